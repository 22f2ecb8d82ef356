#include "engine/opencl/device.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "engine/device/lost_processor.h"
#include "engine/opencl/program_cache.h"

namespace moil::opencl {
namespace {

// No -cl-fast-relaxed-math: results are to agree with the CPU's, NaN and infinity included.
constexpr const char* kBuildOptions = "-cl-std=CL1.2";

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string text(bytes, '\0');
  check(clGetDeviceInfo(device, what, bytes, text.data(), nullptr), "clGetDeviceInfo");
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

template <class T>
T number_of(cl_device_id device, cl_device_info what) {
  T value{};
  check(clGetDeviceInfo(device, what, sizeof(value), &value, nullptr), "clGetDeviceInfo");
  return value;
}

std::vector<cl_device_id> all_devices() {
  cl_uint count = 0;
  // CL_PLATFORM_NOT_FOUND_KHR if no driver is installed, or none of them loads.
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0)
    throw ProcessorError("OpenCL: no driver is installed, or none of them loads");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  std::vector<cl_device_id> devices;
  for (const cl_platform_id platform : platforms) {
    cl_uint found = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &found) != CL_SUCCESS) continue;
    const std::size_t before = devices.size();
    devices.resize(before + found);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, found, devices.data() + before, nullptr) !=
        CL_SUCCESS)
      devices.resize(before);
  }
  return devices;
}

int rank_of(cl_device_id device) {
  const auto type = number_of<cl_device_type>(device, CL_DEVICE_TYPE);
  if (type & CL_DEVICE_TYPE_GPU) return 0;
  return type & CL_DEVICE_TYPE_ACCELERATOR ? 1 : 2;
}

}  // namespace

std::string error_text(cl_int code) {
  constexpr std::pair<cl_int, const char*> kNames[] = {
      {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
      {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
      {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
      {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
      {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
      {CL_MAP_FAILURE, "CL_MAP_FAILURE"},
      {CL_MISALIGNED_SUB_BUFFER_OFFSET, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
      {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
      {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
      {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
      {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
      {CL_INVALID_OPERATION, "CL_INVALID_OPERATION"},
      {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
  };
  for (const auto& [known, name] : kNames)
    if (known == code) return std::string(name) + " (" + std::to_string(code) + ")";
  return "error " + std::to_string(code);
}

Device::Device(const DeviceOptions& options) : options_(options) {
  choose(options.name);
  is_the_cpu_ = rank_of(id_) == 2;
  shares_memory_ =
      options.share_memory && number_of<cl_bool>(id_, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  // In bits; the data type's own alignment is at most the largest vector's.
  alignment_ =
      std::max<std::size_t>(64, number_of<cl_uint>(id_, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
  largest_allocation_ =
      static_cast<std::size_t>(number_of<cl_ulong>(id_, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  description_ = text_of(id_, CL_DEVICE_NAME) + " (" + text_of(id_, CL_DEVICE_VERSION) +
                 ", driver " + text_of(id_, CL_DRIVER_VERSION) + ")";
  cl_int code = CL_SUCCESS;
  context_.reset(clCreateContext(nullptr, 1, &id_, nullptr, nullptr, &code));
  check(code, "clCreateContext");
  queue_.reset(clCreateCommandQueue(context_.get(), id_, 0, &code));
  check(code, "clCreateCommandQueue");
}

Device::~Device() {
  if (!lost_) return;
  for (auto& [source, program] : programs_) (void)program.release();
  (void)queue_.release();
  (void)context_.release();
}

void Device::choose(const std::string& name) {
  std::vector<cl_device_id> devices = all_devices();
  std::string known;
  std::vector<cl_device_id> fitting;
  for (const cl_device_id device : devices) {
    const std::string its = text_of(device, CL_DEVICE_NAME);
    known += (known.empty() ? "" : ", ") + its;
    if (its.find(name) != std::string::npos) fitting.push_back(device);
  }
  if (fitting.empty())
    throw ProcessorError(devices.empty()
                             ? "OpenCL: the installed drivers have no device"
                             : "OpenCL: no device is called \"" + name + "\"; there are: " + known);
  id_ = *std::min_element(fitting.begin(), fitting.end(),
                          [](cl_device_id a, cl_device_id b) { return rank_of(a) < rank_of(b); });
}

cl_program Device::program(const char* source) {
  auto found = programs_.find(source);
  if (found == programs_.end()) found = programs_.emplace(source, build(source)).first;
  return found->second.get();
}

std::filesystem::path Device::cache_file(const char* source) const {
  if (options_.cache_folder.empty()) return {};
  const std::uint64_t key = hash64(description_ + "\n" + kBuildOptions + "\n" + source);
  char name[32];
  std::snprintf(name, sizeof(name), "%016llx.clbin", static_cast<unsigned long long>(key));
  return options_.cache_folder / name;
}

Program Device::build(const char* source) {
  const std::filesystem::path file = cache_file(source);
  if (Program kept = load_program(context_.get(), id_, file, kBuildOptions)) return kept;
  cl_int code = CL_SUCCESS;
  Program program(clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &code));
  check(code, "clCreateProgramWithSource");
  code = clBuildProgram(program.get(), 1, &id_, kBuildOptions, nullptr, nullptr);
  if (code != CL_SUCCESS) {
    std::string log(4096, '\0');
    std::size_t bytes = 0;
    clGetProgramBuildInfo(program.get(), id_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), &bytes);
    log.resize(std::min(log.size(), bytes > 0 ? bytes - 1 : 0));
    throw ProcessorError("OpenCL: " + description_ + " refuses a kernel: " + error_text(code) +
                         ": " + log);
  }
  store_program(program.get(), file);
  return program;
}

namespace {

// What a driver may still call long after everybody stopped waiting.
struct Answer {
  std::mutex mutex;
  std::condition_variable came;
  bool is_there = false;
};

void CL_CALLBACK answer(cl_event, cl_int, void* data) {
  const std::unique_ptr<std::shared_ptr<Answer>> held(static_cast<std::shared_ptr<Answer>*>(data));
  const std::lock_guard lock((*held)->mutex);
  (*held)->is_there = true;
  (*held)->came.notify_one();
}

}  // namespace

void Device::lose() {
  lost_ = true;
  note_lost_processor();
}

void Device::require(cl_int code, const char* call) {
  if (code != CL_SUCCESS) lose();
  check(code, call);
}

cl_int Device::status_of(const Event& event) {
  cl_int status = CL_SUCCESS;
  require(clGetEventInfo(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
                         nullptr),
          "clGetEventInfo");
  return status;
}

void Device::wait(const Event& event) {
  if (lost_) throw ProcessorError("OpenCL: " + description_ + " is lost");
  require(clFlush(queue()), "clFlush");
  if (status_of(event) > CL_COMPLETE) {
    auto state = std::make_shared<Answer>();
    auto held = std::make_unique<std::shared_ptr<Answer>>(state);
    require(clSetEventCallback(event.get(), CL_COMPLETE, answer, held.get()), "clSetEventCallback");
    (void)held.release();  // answer() frees it
    std::unique_lock lock(state->mutex);
    if (!state->came.wait_for(lock, std::chrono::duration<double>(options_.answer_seconds),
                              [&] { return state->is_there; })) {
      lose();
      throw ProcessorError("OpenCL: " + description_ + " did not answer within " +
                           std::to_string(static_cast<int>(options_.answer_seconds)) + " seconds");
    }
  }
  const cl_int status = status_of(event);
  if (status < 0) check(status, "a command");
}

void Device::finish() {
  cl_event event = nullptr;
  require(clEnqueueMarkerWithWaitList(queue(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
  wait(Event(event));
}

}  // namespace moil::opencl
