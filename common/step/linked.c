#include "step/step.h"

attention_step step_linked(void) {
  step_keep_locale();
  return (attention_step){
      .name = attention_name(),
      .summary = attention_summary(),
      .forward = attention_forward,
      .workspace_bytes = attention_workspace_bytes,
      .forward_group = attention_forward_group,
      .group_workspace_bytes = attention_group_workspace_bytes,
      .group_rows = attention_group_rows,
      .group_unsupported = attention_group_unsupported,
      .unsupported = attention_unsupported,
      .source = attention_source ? attention_source() : NULL,
      .configurations = attention_configurations, // weak: NULL where the step has none
      .configure = attention_configure,
      .configuration_for = attention_configuration,
      .shared_memory_bytes = attention_shared_memory_bytes,
  };
}
