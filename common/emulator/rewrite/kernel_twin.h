// nvcc deduces the template arguments of a launched kernel, and fills in default arguments, as in a call. The launcher
// is given the kernel's address, and there is no address before the arguments are known. So each kernel that is a
// template, has default arguments, or shares its name with another function gets a twin: a function with the same
// parameters, which is declared and never defined. What its call would return tells the kernel's address.
//   template <typename T> __global__ void scale(T *x, T factor = 2) { ... }
//   template <typename T> ::emulator::kernel_constant<static_cast<void (*)(T *x, T factor)>(&scale<T>)>
//   emulator_twin_scale(T *x, T factor = 2);
#ifndef KERNEL_TWIN_H
#define KERNEL_TWIN_H

#include "emulator/rewrite/source.h"

typedef struct {
  size_t name; // token
  bool has_twin;
} kernel_name;

typedef struct {
  kernel_name *names; // a name may stand here twice
  size_t count, capacity;
  text_buffer last_twins; // of a kernel at the end of the file
} kernel_list;

// The kernel's name: the first behind the token that stands before a parenthesis and is no attribute. NO_TOKEN when there
// is none.
size_t kernel_find_name(const source *file, size_t global);

// The { or ; of the kernel whose parameters begin at `open`; NO_TOKEN where something else follows.
size_t kernel_find_body(const source *file, size_t open);

// In a module it also adds, behind each kernel that is no template,
//   static const void *const emulator_module_kernel_12 = ::emulator::kernel_address(..., "scale");
// which tells the emulator the kernel's parameters when the module is loaded.
//
// Adds the twin behind the kernel whose __global__ is the token at `global`, if it needs one; `statement` is the
// first token of its declaration.
void kernel_twin_add(source *file, size_t statement, size_t global, kernel_list *kernels);

// Has the kernel of this name a twin?
bool kernel_has_twin(const source *file, const kernel_list *kernels, size_t name);

// Makes of a cast of a kernel, such as (void *)scale<float>, whose `void` is the token at `cast`,
//   ::emulator::kernel_address(scale<float>, "scale<float>")
// so that a launch by address knows the kernel's parameters. Any other cast stays as it is.
void kernel_name_addresses(source *file, size_t cast, const kernel_list *kernels);

void kernel_list_free(kernel_list *kernels);

#endif
