// The list of the native games. A new game is registered by its line here and in envs/__init__.py.
#pragma once

#include <tuple>

#include "dobutsu/dobutsu.hpp"

namespace deskovky {

using AllGames = std::tuple<Dobutsu>;

// Calls visit.template operator()<G>() for every game.
template <class Visit>
void for_each_game(Visit&& visit) {
  [&]<class... Gs>(std::tuple<Gs...>*) {
    (visit.template operator()<Gs>(), ...);
  }(static_cast<AllGames*>(nullptr));
}

}  // namespace deskovky
