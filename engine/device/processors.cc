#include "engine/device/processor.h"
#include "engine/opencl/open.h"

namespace moil {
namespace {

struct Known {
  std::string_view name;
  std::unique_ptr<Processor> (*open)(const ProcessorOptions&);
};
constexpr Known kKnown[] = {{"opencl", open_opencl}};

}  // namespace

std::unique_ptr<Processor> open_processor(std::string_view name, const ProcessorOptions& options) {
  std::string names = "cpu";
  for (const Known& known : kKnown) {
    if (known.name == name) return known.open(options);
    names += ", " + std::string(known.name);
  }
  throw Error(ErrorCode::kInvalidArgument,
              "unknown processor \"" + std::string(name) + "\"; known: " + names);
}

}  // namespace moil
