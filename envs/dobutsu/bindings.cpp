// Python bindings of the solution of Dobutsu: making its table, and looking positions up in it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "core/any.hpp"
#include "core/numpy_array.hpp"
#include "dobutsu/reachable.hpp"
#include "dobutsu/solver.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace deskovky;

#define ARRAYS "tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32]]"

namespace {

const Placements& placements() {
  static const Placements placements(Placements::kUndecided);
  return placements;
}

// Calls progress(stage, done, total) ten times a second, and when a stage begins. That is also when
// Ctrl-C is noticed. The caller does not hold the interpreter lock.
Report make_report(nb::callable progress) {
  using Clock = std::chrono::steady_clock;
  return [progress = std::move(progress), stage = std::string(), next = Clock::time_point()](
             const char* new_stage, std::uint64_t done, std::uint64_t total) mutable {
    const auto now = Clock::now();
    if (stage == new_stage && now < next && done < total) return;
    stage = new_stage;
    next = now + std::chrono::milliseconds(100);
    const nb::gil_scoped_acquire lock;
    progress(new_stage, done, total);
  };
}

void check_num_threads(int num_threads) {
  constexpr int kMost = 1024;
  if (num_threads < 1 || num_threads > kMost) {
    throw ConfigurationError("num_threads = " + std::to_string(num_threads) +
                             ": expected a number from 1 to " + std::to_string(kMost));
  }
}

void check_size(std::size_t size) {
  if (size != placements().size()) {
    throw TableError("a table of " + std::to_string(size) + " positions; expected " +
                     std::to_string(placements().size()));
  }
}

void solve(nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> table,
           int num_threads, nb::callable progress) {
  check_num_threads(num_threads);
  check_size(table.size());
  const Report report = make_report(std::move(progress));
  const nb::gil_scoped_release release;
  ThreadPool pool(num_threads);
  Solver(placements(), {table.data(), table.size()}, pool).solve(report);
}

struct Case {
  Dobutsu game;
  Dobutsu::Position position;
};

template <class Where>
void check_pieces(const Dobutsu::Position& position, const Where& where) {
  if (!Solution::has_all_pieces(position)) {
    throw TableError(where() +
                     ": the solution is of positions with two giraffes, two elephants and "
                     "two chicks or hens");
  }
}

// Reads a state of Dobutsu, under its own rules.
Case read_state(nb::handle state) {
  const AnyState* any = nullptr;
  if (!nb::try_cast(state, any) || !any) {
    throw ConfigurationError("expected a native state of dobutsu_v0");
  }
  const auto* found = dynamic_cast<const StateOf<Dobutsu>*>(any);
  if (!found) {
    throw ConfigurationError("expected a state of dobutsu_v0, not of " +
                             std::string(any->game->info.id));
  }
  check_pieces(found->state.position(), [&] { return any->fen(); });
  return {found->state.game(), found->state.position()};
}

std::vector<Case> read_states(const nb::sequence& states) {
  std::vector<Case> cases;
  for (const nb::handle state : states) cases.push_back(read_state(state));
  return cases;
}

using Observations = nb::ndarray<const float, nb::shape<-1, Dobutsu::kInfo.num_planes, 4, 3>,
                                 nb::c_contig, nb::device::cpu>;

// What the mover sees, back to the position; quiet count and repetition are not part of it.
Dobutsu::Position read_observation(const float* planes, std::size_t row) {
  const auto fail = [&] {
    throw TableError("observations[" + std::to_string(row) + "] is no observation of the mover");
  };
  Dobutsu::Position position;
  auto& [own, enemy] = position.sides;
  Dobutsu::Bits taken = 0;
  for (int plane = 0; plane < 10; ++plane) {
    for (int square = 0; square < Dobutsu::kNumSquares; ++square) {
      const float value = planes[plane * Dobutsu::kNumSquares + square];
      if (value == 0.0f) continue;
      if (value != 1.0f || taken >> square & 1) fail();
      taken |= Dobutsu::bit(square);
      if (plane < 5) {
        own.pieces[plane] |= Dobutsu::bit(square);
      } else {
        enemy.pieces[plane - 5] |= Dobutsu::bit(11 - square);
      }
    }
  }
  for (int piece = Dobutsu::G; piece <= Dobutsu::C; ++piece) {
    for (const bool is_own : {true, false}) {
      const float half = planes[((is_own ? 9 : 12) + piece) * Dobutsu::kNumSquares];
      if (half != 0.0f && half != 0.5f && half != 1.0f) fail();
      (is_own ? own : enemy).hand[piece] = static_cast<std::uint8_t>(2 * half);
    }
  }
  if (std::popcount(own.pieces[Dobutsu::L]) > 1 || std::popcount(enemy.pieces[Dobutsu::L]) != 1) {
    fail();
  }
  check_pieces(position, [&] { return "observations[" + std::to_string(row) + "]"; });
  return position;
}

std::vector<Case> read_observations(const Observations& observations, const AnyGame& any) {
  if (any.info.id != Dobutsu::kInfo.id) {
    throw ConfigurationError("game: expected dobutsu_v0, found " + std::string(any.info.id));
  }
  const nb::gil_scoped_release release;
  std::vector<Case> cases;
  cases.reserve(observations.shape(0));
  for (std::size_t row = 0; row < observations.shape(0); ++row) {
    const std::size_t size = Dobutsu::kInfo.num_planes * Dobutsu::kNumSquares;
    cases.push_back(
        {Dobutsu{any.options}, read_observation(observations.data() + row * size, row)});
  }
  return cases;
}

// A finished table in memory that Python owns.
class BoundSolution {
 public:
  using Table = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

  explicit BoundSolution(Table table)
      : table_(std::move(table)), solution_(placements(), {table_.data(), table_.size()}) {
    check_size(table_.size());
  }

  std::pair<nb::object, nb::object> values(const std::vector<Case>& cases) const {
    return arrays({cases.size()}, [&](std::int32_t* values, std::int32_t* distances) {
      for (const auto& [game, position] : cases) {
        const Solved found = solution_.solve(game, position);
        *values++ = found.value;
        *distances++ = found.distance;
      }
    });
  }

  std::pair<nb::object, nb::object> action_values(const std::vector<Case>& cases) const {
    constexpr std::size_t kNumActions = Dobutsu::kInfo.num_actions();
    return arrays({cases.size(), kNumActions}, [&](std::int32_t* values, std::int32_t* distances) {
      std::fill_n(values, cases.size() * kNumActions, kIllegal);
      std::fill_n(distances, cases.size() * kNumActions, -1);
      for (const auto& [game, position] : cases) {
        if (!game.outcome(position).is_over()) {
          solution_.solve_actions(game, position, [&](Action action, Solved found) {
            values[action] = found.value;
            distances[action] = found.distance;
          });
        }
        values += kNumActions;
        distances += kNumActions;
      }
    });
  }

  std::uint64_t count_errors(int num_threads, nb::callable progress) const {
    check_num_threads(num_threads);
    const Report report = make_report(std::move(progress));
    const nb::gil_scoped_release release;
    ThreadPool pool(num_threads);
    return solution_.count_errors(pool, report);
  }

  nb::dict count_reachable(int num_threads, nb::callable progress) const {
    check_num_threads(num_threads);
    const Report report = make_report(std::move(progress));
    ReachableCounts counts;
    {
      const nb::gil_scoped_release release;
      ThreadPool pool(num_threads);
      counts = Reachable(solution_).count(pool, report);
    }
    nb::dict result;
    result["capturable"] = counts.capturable;
    result["arrived"] = counts.arrived;
    result["won"] = counts.won;
    result["lost"] = counts.lost;
    result["drawn"] = counts.drawn;
    result["longest_win"] = counts.longest_win;
    return result;
  }

 private:
  static constexpr std::int32_t kIllegal = -2;

  // Two new int32 arrays, filled without the interpreter lock.
  template <class Write>
  static std::pair<nb::object, nb::object> arrays(std::initializer_list<std::size_t> shape,
                                                  const Write& write) {
    std::pair<nb::object, nb::object> result;
    result.first = new_array<std::int32_t>(shape, [&](std::int32_t* values) {
      result.second = new_array<std::int32_t>(shape, [&](std::int32_t* distances) {
        const nb::gil_scoped_release release;
        write(values, distances);
      });
    });
    return result;
  }

  Table table_;
  Solution solution_;
};

void check_index(std::uint32_t index) {
  if (index >= placements().size()) {
    throw ConfigurationError("index = " + std::to_string(index) + ": there are " +
                             std::to_string(placements().size()) + " positions");
  }
}

// The FEN of an entry, with player 0 to move.
std::string entry_fen(std::uint32_t index) {
  check_index(index);
  const auto [lion_class, cells] = placements().at(index);
  return Dobutsu().to_fen(placements().position(lion_class, cells));
}

// The predecessors of an entry, as the solver finds them.
std::vector<std::uint32_t> entry_predecessors(std::uint32_t index) {
  check_index(index);
  static ThreadPool pool(1);
  static const Solver solver(placements(), {}, pool);
  const auto [lion_class, cells] = placements().at(index);
  std::vector<std::uint32_t> found;
  solver.for_each_predecessor(lion_class, cells, [&](std::uint32_t i) { found.push_back(i); });
  return found;
}

// The entry of a state; -1 if it needs none or can have none.
std::int64_t entry(nb::handle state) {
  const auto [game, position] = read_state(state);
  const auto& own_lion = position.own().pieces[Dobutsu::L];
  if (!own_lion || (own_lion & Dobutsu::kLastRank)) return -1;
  if (Solution::can_capture_lion(position) || Solution::has_enemy_arrived(position)) return -1;
  return placements().index(position);
}

}  // namespace

void register_dobutsu(nb::module_& module) {
  nb::class_<BoundSolution>(module, "DobutsuSolution",
                            "The solution of Dobutsu in a table, see envs/dobutsu/solver.hpp.")
      .def(nb::init<BoundSolution::Table>(), "table"_a)
      .def(
          "values",
          [](const BoundSolution& solution, const nb::sequence& states) {
            return solution.values(read_states(states));
          },
          "states"_a,
          nb::sig("def values(self, states: collections.abc.Sequence[State]) -> " ARRAYS),
          "Return values and distances, [n] int32 each, of native states.")
      .def(
          "values_of_observations",
          [](const BoundSolution& solution, const Observations& observations, const AnyGame& game) {
            return solution.values(read_observations(observations, game));
          },
          "observations"_a, "game"_a,
          nb::sig("def values_of_observations(self, observations: "
                  "numpy.typing.NDArray[numpy.float32], game: Game) -> " ARRAYS),
          "The same of observations [n, 17, 4, 3], as the player to move sees them.")
      .def(
          "action_values",
          [](const BoundSolution& solution, const nb::sequence& states) {
            return solution.action_values(read_states(states));
          },
          "states"_a,
          nb::sig("def action_values(self, states: collections.abc.Sequence[State]) -> " ARRAYS),
          "Return values and distances, [n, 132] int32 each, of all actions of native states;\n"
          "where illegal, -2 and -1.")
      .def(
          "action_values_of_observations",
          [](const BoundSolution& solution, const Observations& observations, const AnyGame& game) {
            return solution.action_values(read_observations(observations, game));
          },
          "observations"_a, "game"_a,
          nb::sig("def action_values_of_observations(self, observations: "
                  "numpy.typing.NDArray[numpy.float32], game: Game) -> " ARRAYS),
          "The same of observations [n, 17, 4, 3], as the player to move sees them.")
      .def("count_errors", &BoundSolution::count_errors, "num_threads"_a, "progress"_a,
           "Return how many entries differ from what the rules and their successors say.")
      .def("count_reachable", &BoundSolution::count_reachable, "num_threads"_a, "progress"_a,
           nb::sig("def count_reachable(self, num_threads: int, progress: "
                   "collections.abc.Callable[[str, int, int], object]) -> dict[str, int]"),
           "Count the positions that can be reached from the start.");
  module.def("solve_dobutsu", &solve, "table"_a, "num_threads"_a, "progress"_a,
             "Fill `table`, [num_dobutsu_entries()] uint8, with the solution of Dobutsu.\n\n"
             "progress(stage, done, total) is called now and then; what it raises ends the work.");
  module.def(
      "num_dobutsu_entries", [] { return placements().size(); },
      "Return the number of entries in the solution of Dobutsu.");
  module.def("dobutsu_entry", &entry, "state"_a,
             "Return the index of the entry of a state; -1 if it needs none or can have none.");
  module.def("dobutsu_entry_fen", &entry_fen, "index"_a,
             "Return the position of an entry, with player 0 to move.");
  module.def("dobutsu_entry_predecessors", &entry_predecessors, "index"_a,
             "Return the entries from which a turn leads to an entry, as the solver finds them.");
}
