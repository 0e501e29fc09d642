#include "step/step.h"

attention_step step_linked(void) {
  return (attention_step){attention_name(),          attention_summary(),   attention_forward,
                          attention_workspace_bytes, attention_unsupported, NULL};
}
