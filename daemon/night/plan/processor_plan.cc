#include "daemon/night/plan/processor_plan.h"

#include "engine/device/schedule_picture.h"
#include "engine/io/selection_json.h"
#include "engine/train/processor_measurement.h"

namespace moil::night {

ProcessorPlan plan_processors(const TrainingToPlace& training, SelectionMethod method,
                              const std::string& title, const std::filesystem::path& profiles) try {
  const std::shared_ptr<Processor> processor = open_second_processor(profiles);
  const TrainingPlanInput input =
      training_plan_input(training.model, &training.trainable_layers, training.config);
  const ProcessorMeasurement measured = measure_processors(
      input.model, input.options, training.config.optimizer, training.kernels, {processor});
  const Schedule schedule = select(measured.problem, method);
  const std::string device = processor->device();
  return {selection_json(device, method, measured.problem, schedule, measured.refused),
          draw_schedule(title + ", " + std::string(to_string(method)) + " on " + device,
                        measured.problem, schedule)};
} catch (const ProcessorError& error) {
  return {{{"why", error.what()}}, ""};
}

}  // namespace moil::night
