// The native module: every layer registers its part.
#include <nanobind/nanobind.h>

void register_envs(nanobind::module_& module);
void register_dobutsu(nanobind::module_& module);
void register_search(nanobind::module_& module);
void register_gumbel(nanobind::module_& module);

NB_MODULE(_core, module) {
  module.doc() = "The native engine of deskovky: games, vectors of games and searches.";
  register_envs(module);
  register_dobutsu(module);
  register_search(module);
  register_gumbel(module);
}
