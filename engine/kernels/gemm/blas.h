// What every file that calls OpenBLAS does first.
#pragma once

namespace moil {

// OpenBLAS is to run on the thread that calls it. Its OpenMP build changes our thread count when it
// is told so; hence the restoring. Thread-safe; once a process.
void use_one_blas_thread();

}  // namespace moil
