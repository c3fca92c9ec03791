// Python bindings of games, states and vectors of games. Shapes, dtypes, action ranges and liveness
// are checked here, once; work that can take long runs without the interpreter lock.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstring>
#include <limits>

#include "core/any.hpp"
#include "core/interrupt.hpp"
#include "core/numpy_array.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace deskovky;

namespace {

nb::object python_class(const char* module, const char* name) {
  return nb::module_::import_(module).attr(name);
}

template <class Error>
void translate(const char* name) {
  nb::register_exception_translator(
      [](const std::exception_ptr& pointer, void* payload) {
        try {
          std::rethrow_exception(pointer);
        } catch (const Error& error) {
          // A message may quote a piece of bad input that is no UTF-8.
          const nb::object message =
              nb::steal(PyUnicode_DecodeUTF8(error.what(), std::strlen(error.what()), "replace"));
          PyErr_SetObject(python_class("deskovky.errors", static_cast<const char*>(payload)).ptr(),
                          message.ptr());
        }
      },
      const_cast<char*>(name));
}

// How messages show a value: its repr, unless that is endless or fails, as of 10**5000.
std::string shown(nb::handle value) {
  constexpr std::size_t kMost = 60;
  const nb::object repr = nb::steal(PyObject_Repr(value.ptr()));
  const char* text = repr.is_valid() ? PyUnicode_AsUTF8AndSize(repr.ptr(), nullptr) : nullptr;
  PyErr_Clear();
  if (text && std::strlen(text) <= kMost) return text;
  return std::string(text ? "a long " : "an unprintable ") +
         nb::cast<std::string>(value.type().attr("__name__"));
}

// Reads an action from any Python or NumPy integer. One beyond 64 bits is as illegal as any other.
long long read_action(nb::handle action) {
  const nb::object integer = nb::steal(PyNumber_Index(action.ptr()));
  const long long value = integer.is_valid() ? PyLong_AsLongLong(integer.ptr()) : -1;
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw IllegalActionError("action " + shown(action) +
                             (integer.is_valid() ? " is out of range" : " is not an integer"));
  }
  return value;
}

// Reads an option from any Python or NumPy integer; throws ConfigurationError unless it lies in
// [least, most].
template <class T>
T read_integer(const char* name, nb::handle value, T least, T most) {
  const nb::object integer =
      PyBool_Check(value.ptr()) ? nb::object() : nb::steal(PyNumber_Index(value.ptr()));
  T number = 0;
  const bool is_read = integer.is_valid() && nb::try_cast(integer, number);
  PyErr_Clear();
  if (is_read && least <= number && number <= most) return number;
  throw ConfigurationError(std::string(name) + " = " + shown(value) +
                           ": expected an integer from " + std::to_string(least) + " to " +
                           std::to_string(most));
}

std::uint64_t read_seed(nb::handle seed) {
  return read_integer<std::uint64_t>("seed", seed, 0, ~std::uint64_t{0});
}

int read_player(nb::handle player) { return read_integer("player", player, 0, 1); }

// Reads a text. What is no character of any move or FEN (NUL, half a surrogate pair) becomes its
// escape, so that it is refused like any other and a message can show it.
template <class Error>
std::string read_text(const std::string& what, nb::handle text) {
  if (!PyUnicode_Check(text.ptr())) throw Error(what + " is a text, not " + shown(text));
  const nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (!bytes.is_valid() || PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) {
    throw nb::python_error();
  }
  std::string read;
  for (const char c : std::string_view(data, size)) {
    if (c)
      read += c;
    else
      read += "\\x00";
  }
  return read;
}

std::optional<std::string> read_fen(nb::handle fen) {
  if (fen.is_none()) return std::nullopt;
  if (!PyUnicode_Check(fen.ptr())) throw FenError("fen", "is a text, not " + shown(fen));
  return read_text<IllegalActionError>("a FEN", fen);
}

std::string read_move(nb::handle text) { return read_text<IllegalActionError>("a move", text); }

int index_of(std::string_view what, const std::optional<std::string>& name,
             const std::vector<std::string_view>& names) {
  if (!name) return 0;
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == *name) return static_cast<int>(i);
    known += (i ? ", " : "") + std::string(names[i]);
  }
  throw UnknownGameError("no " + std::string(what) + " '" + *name + "'; there are: " + known);
}

std::vector<std::string_view> setup_names(const GameInfo& info) {
  std::vector<std::string_view> names;
  for (const Setup& setup : info.setups) names.push_back(setup.name);
  return names;
}

std::shared_ptr<AnyGame> make_game(const std::string& id, const std::optional<std::string>& ruleset,
                                   const std::optional<std::string>& setup, nb::object max_turns,
                                   const std::string& view) {
  if (view != "relative" && view != "absolute") {
    throw ConfigurationError("view = '" + view + "': expected 'relative' or 'absolute'");
  }
  std::shared_ptr<AnyGame> game;
  for_each_game([&]<class G>() {
    constexpr GameInfo info = G::kInfo;
    if (info.id != id) return;
    const GameOptions options = {
        .ruleset = index_of("ruleset", ruleset, {info.rulesets.begin(), info.rulesets.end()}),
        .setup = index_of("setup", setup, setup_names(info)),
        .max_turns = max_turns.is_none() ? info.max_turns
                                         : read_integer("max_turns", max_turns, 1, 1'000'000),
    };
    game = std::make_shared<GameOf<G>>(options, view == "absolute");
  });
  if (!game) throw UnknownGameError("no native game '" + id + "'");
  return game;
}

// The positional arguments that make an equal game.
nb::tuple game_arguments(const AnyGame& game) {
  return nb::make_tuple(std::string(game.info.id), std::string(game.ruleset()),
                        std::string(game.setup().name), game.options.max_turns,
                        game.is_absolute ? "absolute" : "relative");
}

std::string game_repr(const AnyGame& game) {
  std::string text = "Game('" + std::string(game.info.id) + "'";
  if (game.options.ruleset) text += ", ruleset='" + std::string(game.ruleset()) + "'";
  if (game.options.setup) text += ", setup='" + std::string(game.setup().name) + "'";
  if (game.options.max_turns != game.info.max_turns) {
    text += ", max_turns=" + std::to_string(game.options.max_turns);
  }
  if (game.is_absolute) text += ", view='absolute'";
  return text + ")";
}

nb::object outcome_to_python(const Outcome& outcome) {
  if (!outcome.is_over()) return nb::none();
  const auto name = kTerminationNames[static_cast<std::size_t>(outcome.termination)];
  const nb::object winner =
      outcome.winner == Outcome::kNobody ? nb::none() : nb::object(nb::int_(outcome.winner));
  return python_class("deskovky.envs.protocol", "Outcome")(
      winner, python_class("deskovky.envs.protocol", "Termination")(std::string(name)));
}

nb::object legal_actions(const AnyState& state) {
  const ActionList& list = state.legal_actions();
  return new_array<std::int32_t>({static_cast<std::size_t>(list.size())}, [&](std::int32_t* data) {
    std::copy(list.begin(), list.end(), data);
  });
}

nb::object legal_action_mask(const AnyState& state) {
  const ActionList& list = state.legal_actions();
  const std::size_t size = state.game->info.num_actions();
  return new_array<bool>({size}, [&](bool* data) {
    std::fill_n(data, size, false);
    for (const auto action : list) data[action] = true;
  });
}

nb::object observation(const AnyState& state, nb::handle player) {
  const int viewer = player.is_none() ? state.to_move() : read_player(player);
  const GameInfo& info = state.game->info;
  return new_array<float>(
      {static_cast<std::size_t>(state.game->num_observation_planes()),
       static_cast<std::size_t>(info.num_ranks), static_cast<std::size_t>(info.num_files)},
      [&](float* data) { state.write_observation(viewer, data); });
}

// Pickling: the game, the start and the steps, replayed and checked on loading.
std::unique_ptr<AnyState> restore_state(const AnyGame& game, nb::handle start_fen,
                                        nb::iterable actions) {
  auto state = game.new_state(read_fen(start_fen));
  for (const nb::handle action : actions) state->apply(read_action(action));
  return state;
}

// A VectorEngine and a guard against two threads in it at once.
struct BoundVectorEngine {
  std::unique_ptr<AnyVectorEngine> engine;
  std::atomic_flag is_busy;
};

class Busy {
 public:
  explicit Busy(BoundVectorEngine& bound) : flag_(bound.is_busy) {
    if (flag_.test_and_set()) {
      throw ConfigurationError("another thread is inside this VectorEngine");
    }
  }
  ~Busy() { flag_.clear(); }

 private:
  std::atomic_flag& flag_;
};

using Input = nb::ndarray<nb::ro>;

void check_shape(const Input& input, const char* name, int num_envs, bool is_right_dtype,
                 const char* dtype) {
  if (is_right_dtype && input.device_type() == nb::device::cpu::value && input.ndim() == 1 &&
      static_cast<int>(input.shape(0)) == num_envs) {
    return;
  }
  throw ConfigurationError(std::string(name) + ": expected a CPU array [" +
                           std::to_string(num_envs) + "] of " + dtype);
}

// Reads [N] bool into a copy, since another thread may write to the array; none is empty.
std::unique_ptr<bool[]> read_mask(const std::optional<Input>& mask, const char* name,
                                  int num_envs) {
  if (!mask) return nullptr;
  check_shape(*mask, name, num_envs, mask->dtype() == nb::dtype<bool>(), "bool");
  auto copy = std::make_unique<bool[]>(num_envs);
  for (int i = 0; i < num_envs; ++i) {
    copy[i] = static_cast<const bool*>(mask->data())[i * mask->stride(0)];
  }
  return copy;
}

std::span<const bool> as_span(const std::unique_ptr<bool[]>& mask, std::size_t size) {
  return mask ? std::span<const bool>(mask.get(), size) : std::span<const bool>();
}

// Reads [N] int32 or int64.
std::vector<std::int64_t> read_actions(const Input& actions, int num_envs) {
  const bool is_int32 = actions.dtype() == nb::dtype<std::int32_t>();
  check_shape(actions, "actions", num_envs,
              is_int32 || actions.dtype() == nb::dtype<std::int64_t>(), "int32 or int64");
  std::vector<std::int64_t> values(num_envs);
  const std::int64_t stride = actions.stride(0);
  for (int i = 0; i < num_envs; ++i) {
    values[i] = is_int32 ? static_cast<const std::int32_t*>(actions.data())[i * stride]
                         : static_cast<const std::int64_t*>(actions.data())[i * stride];
  }
  return values;
}

template <class T>
nb::object view(nb::handle owner, const T* data, std::initializer_list<std::size_t> shape) {
  return nb::cast(nb::ndarray<nb::numpy, const T>(data, shape.size(), shape.begin(), owner),
                  nb::rv_policy::reference);
}

std::size_t num_envs(const BoundVectorEngine& bound) { return bound.engine->options().num_envs; }

nb::object observations_view(nb::handle owner, const BoundVectorEngine& bound,
                             const std::vector<float>& data) {
  const AnyGame& game = *bound.engine->game;
  return view(
      owner, data.data(),
      {data.empty() ? 0 : num_envs(bound), static_cast<std::size_t>(game.num_observation_planes()),
       static_cast<std::size_t>(game.info.num_ranks),
       static_cast<std::size_t>(game.info.num_files)});
}

void register_game(nb::module_& module) {
  nb::class_<AnyGame>(module, "Game",
                      "A native game under fixed options. See deskovky.envs.protocol.Game.")
      .def_prop_ro("id", [](const AnyGame& game) { return game.info.id; })
      .def_prop_ro("ruleset", &AnyGame::ruleset)
      .def_prop_ro("setup", [](const AnyGame& game) { return game.setup().name; })
      .def_prop_ro("max_turns", [](const AnyGame& game) { return game.options.max_turns; })
      .def_prop_ro("view",
                   [](const AnyGame& game) { return game.is_absolute ? "absolute" : "relative"; })
      .def_prop_ro("num_actions", [](const AnyGame& game) { return game.info.num_actions(); })
      .def_prop_ro("action_shape",
                   [](const AnyGame& game) {
                     return std::tuple(game.info.num_action_planes, game.info.num_ranks,
                                       game.info.num_files);
                   })
      .def_prop_ro("observation_shape",
                   [](const AnyGame& game) {
                     return std::tuple(game.num_observation_planes(), game.info.num_ranks,
                                       game.info.num_files);
                   })
      .def_prop_ro(
          "rulesets",
          [](const AnyGame& game) {
            nb::list names;
            for (const auto name : game.info.rulesets) names.append(std::string(name));
            return nb::tuple(names);
          },
          nb::sig("def rulesets(self) -> tuple[str, ...]"))
      .def_prop_ro(
          "setups",
          [](const AnyGame& game) {
            nb::list names;
            for (const auto name : setup_names(game.info)) names.append(std::string(name));
            return nb::tuple(names);
          },
          nb::sig("def setups(self) -> tuple[str, ...]"))
      .def_prop_ro(
          "mirror_actions",
          [](const AnyGame& game) -> nb::object {
            const auto mirrored = game.mirror_actions();
            if (mirrored.empty()) return nb::none();
            return new_array<std::int32_t>({mirrored.size()}, [&](std::int32_t* data) {
              std::copy(mirrored.begin(), mirrored.end(), data);
            });
          },
          nb::sig("def mirror_actions(self) -> numpy.typing.NDArray[numpy.int32] | None"))
      .def(
          "state",
          [](const AnyGame& game, nb::object fen) { return game.new_state(read_fen(fen)); },
          "fen"_a = nb::none(), nb::sig("def state(self, fen: str | None = None) -> State"),
          "Return a new state at the start, or at `fen`; raises FenError.")
      .def(
          "perft",
          [](const AnyGame& game, nb::object depth, nb::object fen) {
            constexpr int kDeepest = 63;
            const int num_turns = read_integer("depth", depth, 0, kDeepest);
            const auto text = read_fen(fen);
            Interrupt interrupt;
            const nb::gil_scoped_release release;
            return game.perft(num_turns, text, [&] { interrupt.check(); });
          },
          nb::arg("depth").none(), "fen"_a = nb::none(),
          nb::sig("def perft(self, depth: int, fen: str | None = None) -> int"),
          "Count the sequences of exactly `depth` turns.")
      .def(
          "__eq__",
          [](const AnyGame& game, nb::handle other) {
            return nb::isinstance<AnyGame>(other) && game == *nb::cast<const AnyGame*>(other);
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const AnyGame& game) { return nb::hash(game_arguments(game)); })
      .def("__repr__", &game_repr)
      .def(
          "__reduce__",
          [](const AnyGame& game) {
            return nb::make_tuple(python_class("deskovky.envs.native", "make_game"),
                                  game_arguments(game));
          },
          nb::sig("def __reduce__(self) -> tuple[object, ...]"));

  module.def("make_game", &make_game, "id"_a, "ruleset"_a = nb::none(), "setup"_a = nb::none(),
             "max_turns"_a = nb::none(), "view"_a = "relative",
             "Return a native game; raises UnknownGameError or ConfigurationError.");
  module.def(
      "native_game_ids",
      [] {
        std::vector<std::string> ids;
        for_each_game([&]<class G>() { ids.emplace_back(G::kInfo.id); });
        return ids;
      },
      "The ids of all games that this module was built with.");
}

void register_state(nb::module_& module) {
  nb::class_<AnyState>(module, "State", "One game in progress. See deskovky.envs.protocol.State.")
      .def_prop_ro(
          "game",
          [](const AnyState& state) { return std::const_pointer_cast<AnyGame>(state.game); })
      .def_prop_ro("history", &AnyState::history, "The texts of the turns so far.")
      .def_prop_ro("to_move", &AnyState::to_move, "The player who acts next, 0 or 1.")
      .def_prop_ro("is_turn_open", &AnyState::is_turn_open, "True between two steps of one turn.")
      .def_prop_ro(
          "occurrences", &AnyState::occurrences,
          "How often the position has occurred at the start of a turn, this time included.")
      .def_prop_ro("is_over", [](const AnyState& state) { return state.outcome().is_over(); })
      .def_prop_ro(
          "outcome", [](const AnyState& state) { return outcome_to_python(state.outcome()); },
          nb::sig("def outcome(self) -> deskovky.envs.protocol.Outcome | None"))
      .def(
          "returns",
          [](const AnyState& state) {
            return std::pair<double, double>(state.outcome().reward(0), state.outcome().reward(1));
          },
          "Return the rewards of player 0 and 1, summed to now: +1.0, 0.0 or -1.0.")
      .def("legal_actions", &legal_actions,
           nb::sig("def legal_actions(self) -> numpy.typing.NDArray[numpy.int32]"),
           "Return the legal actions, ascending, [k] int32.")
      .def("legal_action_mask", &legal_action_mask,
           nb::sig("def legal_action_mask(self) -> numpy.typing.NDArray[numpy.bool_]"),
           "Return [num_actions] bool, true where legal.")
      .def(
          "apply", [](AnyState& state, nb::object action) { state.apply(read_action(action)); },
          nb::arg("action").none(),
          nb::sig("def apply(self, action: typing.SupportsIndex) -> None"),
          "Make one step; raises IllegalActionError and changes nothing if illegal.")
      .def("undo", &AnyState::undo, "Take back one step; raises IllegalActionError at the start.")
      .def("copy", &AnyState::copy, nb::sig("def copy(self) -> typing.Self"),
           "Return an independent copy with the whole history.")
      .def("__copy__", &AnyState::copy)
      .def(
          "__deepcopy__", [](const AnyState& state, nb::handle) { return state.copy(); }, "memo"_a,
          nb::sig("def __deepcopy__(self, memo: object) -> State"))
      .def("observation", &observation, "player"_a = nb::none(),
           nb::sig("def observation(self, player: int | None = None) -> "
                   "numpy.typing.NDArray[numpy.float32]"),
           "Return [planes, ranks, files] float32, seen by `player` (default: to_move).")
      .def("fen", &AnyState::fen, "Return the position as FEN, without the history.")
      .def(
          "action_to_text",
          [](const AnyState& state, nb::object action) {
            return state.action_to_text(read_action(action));
          },
          nb::arg("action").none(),
          nb::sig("def action_to_text(self, action: typing.SupportsIndex) -> str"),
          "Return the move text of one step.")
      .def(
          "action_from_text",
          [](const AnyState& state, nb::object text) {
            return state.action_from_text(read_move(text));
          },
          nb::arg("text").none(), nb::sig("def action_from_text(self, text: str) -> int"),
          "Return the legal action with that text; raises IllegalActionError.")
      .def(
          "turns",
          [](const AnyState& state, nb::object limit) {
            if (limit.is_none()) return state.turns({});
            constexpr long long kMost = std::numeric_limits<long long>::max();
            return state.turns(read_integer<long long>("limit", limit, 0, kMost));
          },
          "limit"_a = nb::none(), nb::sig("def turns(self, limit: int | None = None) -> list[str]"),
          "Return the legal turns as text, at most `limit`.")
      .def(
          "push", [](AnyState& state, nb::object turn) { state.push(read_move(turn)); },
          nb::arg("turn").none(), nb::sig("def push(self, turn: str) -> None"),
          "Make a whole turn given as text; raises IllegalActionError and changes nothing.")
      .def("key", &AnyState::key, "Return the 64-bit repetition key of the position.")
      .def(
          "num_pieces",
          [](const AnyState& state, nb::object player) {
            return state.num_pieces(read_player(player));
          },
          nb::arg("player").none(), nb::sig("def num_pieces(self, player: int) -> int"),
          "Return how many pieces `player` has on the board.")
      .def(
          "svg",
          [](nb::handle self, const nb::kwargs& options) {
            return python_class("deskovky.envs.drawing", "draw")(self, **options);
          },
          nb::sig("def svg(self, **options: typing.Any) -> str"),
          "Return the picture as SVG text; the options are those of deskovky.envs.drawing.draw.")
      .def(
          "_repr_svg_",
          [](nb::handle self) { return python_class("deskovky.envs.drawing", "draw")(self); },
          nb::sig("def _repr_svg_(self) -> str"), "Return what notebooks show.")
      .def(
          "__eq__",
          [](const AnyState& state, nb::handle other) {
            return nb::isinstance<AnyState>(other) &&
                   state.equals(*nb::cast<const AnyState*>(other));
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__",
           [](const AnyState& state) {
             return "State(" + game_repr(*state.game) + ", '" + state.fen() + "')";
           })
      .def(
          "__reduce__",
          [](const AnyState& state) {
            return nb::make_tuple(python_class("deskovky.envs.native", "restore_state"),
                                  nb::make_tuple(std::const_pointer_cast<AnyGame>(state.game),
                                                 state.start_fen(), state.actions()));
          },
          nb::sig("def __reduce__(self) -> tuple[object, ...]"))
      .attr("__hash__") = nb::none();  // mutable

  module.def("restore_state", &restore_state, "game"_a, "start_fen"_a, "actions"_a,
             "Return the state after `actions` from `start_fen`: what pickling stores.");
}

void register_vector_engine(nb::module_& module) {
  using Bound = BoundVectorEngine;
  nb::class_<Bound>(module, "VectorEngine",
                    "N games stepped by native threads into arrays that the next call overwrites.")
      .def(
          "__init__",
          [](Bound* self, const AnyGame& game, nb::object num_envs, nb::object num_threads,
             nb::object seed, const std::string& autoreset, nb::object opening_turns) {
            VectorOptions options = {
                .num_envs = read_integer("num_envs", num_envs, 1, 1 << 24),
                .num_threads = read_integer("num_threads", num_threads, 1, 1024),
                .seed = read_seed(seed),
                .opening_turns = read_integer("opening_turns", opening_turns, 0, 1000)};
            if (autoreset == "next_step")
              options.autoreset = Autoreset::kNextStep;
            else if (autoreset == "same_step")
              options.autoreset = Autoreset::kSameStep;
            else if (autoreset == "disabled")
              options.autoreset = Autoreset::kDisabled;
            else {
              throw ConfigurationError("autoreset = '" + autoreset +
                                       "': expected 'next_step', 'same_step' or 'disabled'");
            }
            try {
              new (self) Bound{game.new_vector_engine(options), {}};
            } catch (const std::bad_alloc&) {
              throw ConfigurationError("num_envs = " + std::to_string(options.num_envs) +
                                       ": so many games do not fit the memory");
            }
          },
          "game"_a, nb::arg("num_envs").none(), nb::arg("num_threads").none() = 1,
          nb::arg("seed").none() = 0, "autoreset"_a = "next_step",
          nb::arg("opening_turns").none() = 0,
          nb::sig("def __init__(self, game: Game, num_envs: int, num_threads: int = 1, "
                  "seed: int = 0, autoreset: str = 'next_step', opening_turns: int = 0) -> None"))
      .def_prop_ro(
          "game",
          [](const Bound& bound) { return std::const_pointer_cast<AnyGame>(bound.engine->game); })
      .def_prop_ro("num_envs", &num_envs)
      .def_prop_ro(
          "observations",
          [](nb::handle self) {
            const auto& bound = *nb::cast<const Bound*>(self);
            return observations_view(self, bound, bound.engine->arrays().observations);
          },
          nb::sig("def observations(self) -> "
                  "numpy.typing.NDArray[numpy.float32]"),
          "[N, C, H, W] float32, seen by the player to move; read-only.")
      .def_prop_ro(
          "final_observations",
          [](nb::handle self) {
            const auto& bound = *nb::cast<const Bound*>(self);
            return observations_view(self, bound, bound.engine->arrays().final_observations);
          },
          nb::sig("def final_observations(self) -> numpy.typing.NDArray[numpy.float32]"),
          "[N, C, H, W] float32, the last one of each game that this step ended; same-step only.")
      .def_prop_ro(
          "legal_action_mask",
          [](nb::handle self) {
            const auto& bound = *nb::cast<const Bound*>(self);
            return view(self, bound.engine->arrays().legal_action_mask.get(),
                        {num_envs(bound),
                         static_cast<std::size_t>(bound.engine->game->info.num_actions())});
          },
          nb::sig("def legal_action_mask(self) -> numpy.typing.NDArray[numpy.bool_]"),
          "[N, A] bool, true where legal; read-only.")
      .def_prop_ro(
          "to_move",
          [](nb::handle self) {
            const auto& bound = *nb::cast<const Bound*>(self);
            return view(self, bound.engine->arrays().to_move.data(), {num_envs(bound)});
          },
          nb::sig("def to_move(self) -> numpy.typing.NDArray[numpy.int8]"), "[N] int8.")
      .def_prop_ro(
          "rewards",
          [](nb::handle self) {
            const auto& bound = *nb::cast<const Bound*>(self);
            return view(self, bound.engine->arrays().rewards.data(), {num_envs(bound), 2});
          },
          nb::sig("def rewards(self) -> numpy.typing.NDArray[numpy.float32]"),
          "[N, 2] float32, of player 0 and 1 in this step.")
      .def_prop_ro(
          "terminated",
          [](nb::handle self) {
            const auto& bound = *nb::cast<const Bound*>(self);
            return view(self, bound.engine->arrays().terminated.get(), {num_envs(bound)});
          },
          nb::sig("def terminated(self) -> numpy.typing.NDArray[numpy.bool_]"),
          "[N] bool: a rule ended the game in this step.")
      .def_prop_ro(
          "truncated",
          [](nb::handle self) {
            const auto& bound = *nb::cast<const Bound*>(self);
            return view(self, bound.engine->arrays().truncated.get(), {num_envs(bound)});
          },
          nb::sig("def truncated(self) -> numpy.typing.NDArray[numpy.bool_]"),
          "[N] bool: the cap max_turns ended the game in this step.")
      .def_prop_ro(
          "termination",
          [](nb::handle self) {
            const auto& bound = *nb::cast<const Bound*>(self);
            return view(self, bound.engine->arrays().termination.data(), {num_envs(bound)});
          },
          nb::sig("def termination(self) -> numpy.typing.NDArray[numpy.int8]"),
          "[N] int8: why this step ended the game, 0 where it did not.")
      .def(
          "reset",
          [](Bound& bound, nb::object seed, std::optional<Input> mask) {
            const auto new_seed = seed.is_none() ? std::nullopt : std::optional(read_seed(seed));
            const auto copy = read_mask(mask, "mask", static_cast<int>(num_envs(bound)));
            const Busy busy(bound);
            const nb::gil_scoped_release release;
            if (new_seed) bound.engine->seed(*new_seed);
            bound.engine->reset(as_span(copy, num_envs(bound)));
          },
          "seed"_a = nb::none(), "mask"_a = nb::none(),
          nb::sig("def reset(self, seed: int | None = None, mask: "
                  "numpy.typing.NDArray[numpy.bool_] | None = None) -> None"),
          "Start all games anew, or those where `mask`, [N] bool, is true.")
      .def(
          "step",
          [](Bound& bound, Input actions, std::optional<Input> active) {
            const auto values = read_actions(actions, static_cast<int>(num_envs(bound)));
            const auto copy = read_mask(active, "active", static_cast<int>(num_envs(bound)));
            const Busy busy(bound);
            const nb::gil_scoped_release release;
            bound.engine->step(values, as_span(copy, num_envs(bound)));
          },
          "actions"_a, "active"_a = nb::none(),
          "Step all games, or those where `active`, [N] bool, is true; `actions` is [N] int32 or "
          "int64. Raises IllegalActionError, naming the game, before anything changes.")
      .def(
          "sample_actions",
          [](Bound& bound) {
            const std::size_t n = num_envs(bound);
            const Busy busy(bound);
            return new_array<std::int32_t>(
                {n}, [&](std::int32_t* data) { bound.engine->sample_actions({data, n}); });
          },
          nb::sig("def sample_actions(self) -> numpy.typing.NDArray[numpy.int32]"),
          "Return a uniformly random legal action of each game, [N] int32; 0 where it has ended.")
      .def(
          "state",
          [](Bound& bound, long long i) {
            const Busy busy(bound);
            if (i < 0 || i >= static_cast<long long>(num_envs(bound))) {
              throw nb::index_error("no game of that index");
            }
            return bound.engine->state(static_cast<int>(i));
          },
          "i"_a, "Return a copy of the state of game `i`.");
}

}  // namespace

void register_envs(nb::module_& module) {
  translate<UnknownGameError>("UnknownGameError");
  translate<FenError>("FenError");
  translate<IllegalActionError>("IllegalActionError");
  translate<TableError>("TableError");
  translate<ConfigurationError>("ConfigurationError");
  register_game(module);
  register_state(module);
  register_vector_engine(module);
}
