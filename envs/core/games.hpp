// The list of the native games. A new game is registered by its line here and in envs/__init__.py.
#pragma once

#include <tuple>

#include "dobutsu/dobutsu.hpp"
#include "drakoburg/drakoburg.hpp"
#include "xiangqi/xiangqi.hpp"

namespace deskovky {

using AllGames = std::tuple<Dobutsu, Drakoburg, Xiangqi>;

// Calls visit.template operator()<G>() for every game.
template <class Visit>
void for_each_game(Visit&& visit) {
  [&]<class... Gs>(std::tuple<Gs...>*) {
    (visit.template operator()<Gs>(), ...);
  }(static_cast<AllGames*>(nullptr));
}

}  // namespace deskovky
