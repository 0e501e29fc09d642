// Functions of CUDA that the emulator lacks. A call of one is an error with a sentence.
#ifndef EMULATOR_DETAIL_LACKING_FUNCTIONS_H
#define EMULATOR_DETAIL_LACKING_FUNCTIONS_H

#define EMULATOR_LACKS(function, sentence)                                                         \
  template <typename... Arguments>                                                                 \
  __attribute__((unavailable(sentence))) cudaError_t function(Arguments &&...)

EMULATOR_LACKS(cudaCreateTextureObject, "the emulator has no textures: read global memory");

#undef EMULATOR_LACKS

#endif
