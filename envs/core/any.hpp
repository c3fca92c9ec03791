// What Python holds: games, states and vectors of games behind one interface each, so that the
// bindings are written once. Searches get back to the concrete type with `visit_state`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/games.hpp"
#include "core/perft.hpp"
#include "core/state.hpp"
#include "core/vector_engine.hpp"

namespace deskovky {

class AnyState;
class AnyVectorEngine;

class AnyGame : public std::enable_shared_from_this<AnyGame> {
 public:
  AnyGame(const GameInfo& info, const GameOptions& options, bool is_absolute)
      : info(info), options(options), is_absolute(is_absolute) {}
  virtual ~AnyGame() = default;

  virtual std::unique_ptr<AnyState> new_state(std::optional<std::string_view> fen) const = 0;
  virtual std::uint64_t perft(int depth, std::optional<std::string_view> fen,
                              const std::function<void()>& check) const = 0;
  virtual std::vector<std::int32_t> mirror_actions() const = 0;
  virtual std::unique_ptr<AnyVectorEngine> new_vector_engine(VectorOptions options) const = 0;

  std::string_view ruleset() const { return info.rulesets[options.ruleset]; }
  const Setup& setup() const { return info.setups[options.setup]; }
  int num_observation_planes() const { return info.num_planes + is_absolute; }
  bool operator==(const AnyGame& other) const {
    return info.id == other.info.id && options.ruleset == other.options.ruleset &&
           options.setup == other.options.setup && options.max_turns == other.options.max_turns &&
           is_absolute == other.is_absolute;
  }

  const GameInfo info;
  const GameOptions options;
  const bool is_absolute;  // view: observations are always seen by player 0
};

class AnyState {
 public:
  explicit AnyState(std::shared_ptr<const AnyGame> game) : game(std::move(game)) {}
  virtual ~AnyState() = default;

  virtual int to_move() const = 0;
  virtual bool is_turn_open() const = 0;
  virtual int occurrences() const = 0;
  virtual const Outcome& outcome() const = 0;
  virtual const ActionList& legal_actions() const = 0;
  virtual void apply(long long action) = 0;  // checked
  virtual void undo() = 0;
  virtual std::unique_ptr<AnyState> copy() const = 0;
  virtual void write_observation(int player, float* out) const = 0;
  virtual std::uint64_t key() const = 0;
  virtual int num_pieces(int player) const = 0;
  virtual std::string fen() const = 0;
  virtual std::string start_fen() const = 0;
  virtual std::vector<Action> actions() const = 0;  // all steps since the start
  virtual std::vector<std::string> history() const = 0;
  virtual std::string action_to_text(long long action) const = 0;
  virtual Action action_from_text(std::string_view text) const = 0;
  virtual std::vector<std::string> turns(std::optional<std::size_t> limit) const = 0;
  virtual void push(std::string_view turn) = 0;
  virtual bool equals(const AnyState& other) const = 0;

  const std::shared_ptr<const AnyGame> game;
};

class AnyVectorEngine {
 public:
  explicit AnyVectorEngine(std::shared_ptr<const AnyGame> game) : game(std::move(game)) {}
  virtual ~AnyVectorEngine() = default;

  virtual const VectorArrays& arrays() const = 0;
  virtual const VectorOptions& options() const = 0;
  virtual std::unique_ptr<AnyState> state(int i) const = 0;
  virtual void seed(std::uint64_t seed) = 0;
  virtual void reset(std::span<const bool> mask) = 0;
  virtual void step(std::span<const std::int64_t> actions, std::span<const bool> active) = 0;
  virtual void sample_actions(std::span<std::int32_t> actions) = 0;

  const std::shared_ptr<const AnyGame> game;
};

template <Game G>
class StateOf final : public AnyState {
 public:
  StateOf(std::shared_ptr<const AnyGame> game, State<G> state)
      : AnyState(std::move(game)), state(std::move(state)) {}

  int to_move() const override { return state.to_move(); }
  bool is_turn_open() const override { return state.position().is_turn_open(); }
  int occurrences() const override { return state.occurrences(); }
  const Outcome& outcome() const override { return state.outcome(); }
  // Callers ask for the list, then for the mask, then apply one of it: it is kept until then.
  const ActionList& legal_actions() const override {
    if (!is_legal_known_) state.legal_actions(legal_);
    is_legal_known_ = true;
    return legal_;
  }
  void apply(long long action) override {
    check_range(action);
    if (!legal_actions().contains(static_cast<Action>(action))) state.check_action(action);
    state.apply(static_cast<Action>(action));
    is_legal_known_ = false;
  }
  void undo() override {
    if (state.steps().empty()) throw IllegalActionError("no step to undo: this is the start");
    state.undo();
    is_legal_known_ = false;
  }
  std::unique_ptr<AnyState> copy() const override { return std::make_unique<StateOf>(game, state); }
  void write_observation(int player, float* out) const override {
    state.write_observation(game->is_absolute ? 0 : player, out, game->is_absolute);
  }
  std::uint64_t key() const override { return state.key(); }
  int num_pieces(int player) const override { return state.num_pieces(player); }
  std::string fen() const override { return state.game().to_fen(state.position()); }
  std::string start_fen() const override { return state.game().to_fen(state.start()); }
  std::vector<Action> actions() const override {
    std::vector<Action> actions;
    for (const auto& step : state.steps()) actions.push_back(step.action);
    return actions;
  }
  std::vector<std::string> history() const override { return state.history(); }
  std::string action_to_text(long long action) const override {
    check_range(action);
    return state.action_to_text(static_cast<Action>(action));
  }
  Action action_from_text(std::string_view text) const override {
    return state.action_from_text(text);
  }
  std::vector<std::string> turns(std::optional<std::size_t> limit) const override {
    std::vector<std::string> turns;
    if (limit == 0) return turns;
    state.for_each_turn([&](const std::string& text, const std::vector<Action>&) {
      turns.push_back(text);
      return !limit || turns.size() < *limit;
    });
    return turns;
  }
  void push(std::string_view turn) override {
    for (const Action action : state.turn_from_text(turn)) state.apply(action);
    is_legal_known_ = false;
  }
  bool equals(const AnyState& other) const override {
    const auto* same = dynamic_cast<const StateOf*>(&other);
    return same && *game == *other.game && state == same->state;
  }

  State<G> state;

 private:
  static void check_range(long long action) {
    if (action < 0 || action >= G::kInfo.num_actions()) {
      throw IllegalActionError("action " + std::to_string(action) + " is not in [0, " +
                               std::to_string(G::kInfo.num_actions()) + ")");
    }
  }

  mutable ActionList legal_;
  mutable bool is_legal_known_ = false;
};

template <Game G>
class VectorEngineOf final : public AnyVectorEngine {
 public:
  VectorEngineOf(std::shared_ptr<const AnyGame> game, const State<G>& start,
                 const VectorOptions& options)
      : AnyVectorEngine(std::move(game)), engine_(start, options) {}

  const VectorArrays& arrays() const override { return engine_.arrays(); }
  const VectorOptions& options() const override { return engine_.options(); }
  std::unique_ptr<AnyState> state(int i) const override {
    return std::make_unique<StateOf<G>>(game, engine_.state(i));
  }
  void seed(std::uint64_t seed) override { engine_.seed(seed); }
  void reset(std::span<const bool> mask) override { engine_.reset(mask); }
  void step(std::span<const std::int64_t> actions, std::span<const bool> active) override {
    engine_.step(actions, active);
  }
  void sample_actions(std::span<std::int32_t> actions) override { engine_.sample_actions(actions); }

 private:
  VectorEngine<G> engine_;
};

template <Game G>
class GameOf final : public AnyGame {
 public:
  GameOf(const GameOptions& options, bool is_absolute)
      : AnyGame(G::kInfo, options, is_absolute), start_(game().from_fen(setup().fen)) {}

  std::unique_ptr<AnyState> new_state(std::optional<std::string_view> fen) const override {
    return std::make_unique<StateOf<G>>(shared_from_this(), State<G>(game(), position(fen)));
  }
  std::uint64_t perft(int depth, std::optional<std::string_view> fen,
                      const std::function<void()>& check) const override {
    return deskovky::perft(game(), position(fen), depth, check);
  }
  std::vector<std::int32_t> mirror_actions() const override {
    std::vector<std::int32_t> mirrored;
    if (!G::kInfo.is_mirror_symmetric) return mirrored;
    for (Action action = 0; action < G::kInfo.num_actions(); ++action) {
      mirrored.push_back(game().mirror_action(action));
    }
    return mirrored;
  }
  std::unique_ptr<AnyVectorEngine> new_vector_engine(VectorOptions options) const override {
    options.is_absolute = is_absolute;
    return std::make_unique<VectorEngineOf<G>>(shared_from_this(), State<G>(game(), start_),
                                               options);
  }

 private:
  G game() const { return G{options}; }
  typename G::Position position(std::optional<std::string_view> fen) const {
    return fen ? game().from_fen(*fen) : start_;
  }

  typename G::Position start_;
};

// Calls visit(State<G>&) with the concrete state.
template <class Visit>
void visit_state(const AnyState& any, Visit&& visit) {
  for_each_game([&]<class G>() {
    if (const auto* state = dynamic_cast<const StateOf<G>*>(&any)) visit(state->state);
  });
}

}  // namespace deskovky
