// What a search walks: a game in progress with `apply` and `undo`. The native State<G> is one;
// PythonState lets a search walk a game written in Python, through the State protocol of
// envs/protocol.py, slowly.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <concepts>
#include <numeric>
#include <span>
#include <string>

#include "core/any.hpp"

namespace deskovky {

template <class S>
concept SearchState =
    std::copyable<S> && requires(S state, const S fixed, ActionList& list, Action action,
                                 int player, int* urgencies, float* out) {
      { fixed.legal_actions(list) } -> std::same_as<void>;  // ascending; empty when over
      { state.apply(action) } -> std::same_as<void>;        // a legal action
      { state.undo() } -> std::same_as<void>;
      { fixed.to_move() } -> std::same_as<int>;
      { fixed.is_over() } -> std::same_as<bool>;
      { fixed.outcome() } -> std::convertible_to<Outcome>;
      { fixed.is_turn_open() } -> std::same_as<bool>;  // the last step did not complete its turn
      { fixed.key() } -> std::same_as<std::uint64_t>;
      // Equal only if all that the rules look at is, but for past positions and the number of turns.
      { fixed.search_key() } -> std::same_as<std::uint64_t>;
      { fixed.is_capture(action) } -> std::same_as<bool>;  // the step removes an enemy piece
      // For quiescence: 0 for each quiet action, more for one that may change a lot at once.
      { fixed.rate_urgencies(list, urgencies) } -> std::same_as<void>;
      { fixed.captures_are_compulsory() } -> std::same_as<bool>;  // true if not known
      { fixed.is_check() } -> std::same_as<bool>;                 // the mover must answer a threat
      { fixed.occurrences() } -> std::same_as<int>;  // of the position so far, this one included
      { fixed.num_pieces(player) } -> std::same_as<int>;
      { fixed.evaluate() } -> std::same_as<int>;  // hundredths of the weakest piece, for to_move
      { fixed.terms() } -> std::convertible_to<std::span<const Term>>;  // of which it is the sum
      { state.weights() } -> std::same_as<std::span<int>>;
      { fixed.num_actions() } -> std::same_as<int>;
      { fixed.observation_size() } -> std::same_as<int>;       // floats
      { fixed.write_observation(out) } -> std::same_as<void>;  // as the network sees it
    };

// A State<G> under the options of its game object.
template <Game G>
class NativeSearchState : public State<G> {
 public:
  NativeSearchState(const State<G>& state, bool is_absolute)
      : State<G>(state), is_absolute_(is_absolute) {
    for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] = G::kTerms[i].weight;
  }

  bool is_turn_open() const { return this->position().is_turn_open(); }
  // A game whose key leaves out what its rules look at (who checked whom), or holds all they look
  // at (no quiet limit), offers a search_key of its own.
  std::uint64_t search_key() const {
    if constexpr (requires(const G& game) { game.search_key(this->position()); }) {
      return this->game().search_key(this->position());
    } else {
      return mix(this->key() ^ mix(this->position().quiet));
    }
  }
  bool is_capture(Action action) const {
    const int enemy = 1 - this->to_move();
    auto next = this->position();
    this->game().apply(next, action);
    return this->game().num_pieces(next, enemy) < this->num_pieces(enemy);
  }
  void rate_urgencies(const ActionList& actions, int* urgencies) const {
    const int size = actions.size();
    if (G::kCapturesAreCompulsory && size && this->game().urgency(this->position(), actions[0])) {
      std::fill_n(urgencies, size, this->game().urgency(this->position(), actions[0]));
      return;
    }
    for (int i = 0; i < size; ++i) {
      urgencies[i] = this->game().urgency(this->position(), actions[i]);
    }
  }
  bool captures_are_compulsory() const { return G::kCapturesAreCompulsory; }
  bool is_check() const {
    if constexpr (requires(const G& game) { game.is_check(this->position()); }) {
      return this->game().is_check(this->position());
    }
    return false;
  }
  // What each of the game's terms counts for the mover, less what it counts for the enemy.
  std::array<int, G::kTerms.size()> features() const {
    auto features = this->game().features(this->position(), this->to_move());
    const auto enemy = this->game().features(this->position(), 1 - this->to_move());
    for (std::size_t i = 0; i < features.size(); ++i) features[i] -= enemy[i];
    return features;
  }
  int evaluate() const {
    const auto counts = features();
    return std::inner_product(counts.begin(), counts.end(), weights_.begin(), 0);
  }
  static constexpr std::span<const Term> terms() { return G::kTerms; }
  std::span<int> weights() { return weights_; }  // of the terms; others may be set
  int num_actions() const { return G::kInfo.num_actions(); }
  int observation_size() const {
    return (G::kInfo.num_planes + is_absolute_) * G::kInfo.num_squares();
  }
  void write_observation(float* out) const {
    State<G>::write_observation(is_absolute_ ? 0 : this->to_move(), out, is_absolute_);
  }

 private:
  bool is_absolute_;
  std::array<int, G::kTerms.size()> weights_;
};

static_assert(SearchState<NativeSearchState<Dobutsu>>);

// Every method takes the interpreter lock itself: searches run without it.
class PythonState {
 public:
  // Copies the state. The caller holds the interpreter lock.
  explicit PythonState(nanobind::handle state) : state_(state.attr("copy")()) {
    const nanobind::object game = state.attr("game");
    num_actions_ = nanobind::cast<int>(game.attr("num_actions"));
    has_evaluation_ = nanobind::hasattr(state, "evaluate");
    constexpr int kMostKinds = 1 << 16;  // what an ActionList can hold
    if (num_actions_ > kMostKinds) {
      throw ConfigurationError("num_actions = " + std::to_string(num_actions_) +
                               ": searches take up to " + std::to_string(kMostKinds));
    }
    observation_size_ = 1;
    for (const nanobind::handle extent : game.attr("observation_shape")) {
      observation_size_ *= nanobind::cast<int>(extent);
    }
    look();
  }

  PythonState(const PythonState& other) { *this = other; }
  PythonState& operator=(const PythonState& other) {
    const nanobind::gil_scoped_acquire lock;
    state_ = other.state_.attr("copy")();
    has_evaluation_ = other.has_evaluation_;
    weights_ = other.weights_;
    num_actions_ = other.num_actions_;
    observation_size_ = other.observation_size_;
    look();
    return *this;
  }
  ~PythonState() {
    const nanobind::gil_scoped_acquire lock;
    state_.reset();
  }

  void legal_actions(ActionList& list) const {
    const nanobind::gil_scoped_acquire lock;
    constexpr int kMostActions = 1024;  // the room in an ActionList
    list.clear();
    for (const nanobind::handle item : state_.attr("legal_actions")()) {
      const auto action = nanobind::cast<long long>(nanobind::int_(item));
      if (action < 0 || action >= num_actions_ || list.size() == kMostActions) {
        throw ConfigurationError("legal_actions() of the game: more than " +
                                 std::to_string(kMostActions) + " or not in [0, " +
                                 std::to_string(num_actions_) + ")");
      }
      list.push_back(static_cast<Action>(action));
    }
    if (list.empty() && !is_over()) {
      throw ConfigurationError("the game is not over, but its legal_actions() are empty");
    }
  }
  void apply(Action action) {
    const nanobind::gil_scoped_acquire lock;
    state_.attr("apply")(action);
    look();
  }
  void undo() {
    const nanobind::gil_scoped_acquire lock;
    state_.attr("undo")();
    look();
  }
  int to_move() const { return to_move_; }
  bool is_over() const { return outcome_.is_over(); }
  const Outcome& outcome() const { return outcome_; }
  bool is_turn_open() const { return get<bool>("is_turn_open"); }
  std::uint64_t key() const {
    const nanobind::gil_scoped_acquire lock;
    return nanobind::cast<std::uint64_t>(state_.attr("key")());
  }
  std::uint64_t search_key() const {  // of the FEN, which holds the counters too (FNV-1a)
    const nanobind::gil_scoped_acquire lock;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : nanobind::cast<std::string>(state_.attr("fen")())) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return mix(hash);
  }
  bool is_capture(Action action) const {
    const nanobind::gil_scoped_acquire lock;
    const int enemy = 1 - to_move_;
    const int before = num_pieces(enemy);
    state_.attr("apply")(action);
    const int after = num_pieces(enemy);
    state_.attr("undo")();
    return after < before;
  }
  void rate_urgencies(const ActionList& actions, int* urgencies) const {
    for (int i = 0; i < actions.size(); ++i) urgencies[i] = is_capture(actions[i]) ? 100 : 0;
  }
  bool captures_are_compulsory() const { return true; }
  bool is_check() const { return false; }
  int occurrences() const { return get<int>("occurrences"); }
  int num_pieces(int player) const {
    const nanobind::gil_scoped_acquire lock;
    return nanobind::cast<int>(state_.attr("num_pieces")(player));
  }
  // A Python game may have an evaluation of its own; else pieces are counted.
  static constexpr std::span<const Term> terms() { return kTerms; }
  std::span<int> weights() { return weights_; }
  std::array<int, 1> features() const { return {num_pieces(to_move_) - num_pieces(1 - to_move_)}; }
  int evaluate() const {
    if (!has_evaluation_) return weights_[0] * features()[0];
    const nanobind::gil_scoped_acquire lock;
    return nanobind::cast<int>(state_.attr("evaluate")());
  }
  int num_actions() const { return num_actions_; }
  int observation_size() const { return observation_size_; }
  void write_observation(float* out) const {
    const nanobind::gil_scoped_acquire lock;
    const auto observation =
        nanobind::cast<nanobind::ndarray<const float, nanobind::c_contig, nanobind::device::cpu>>(
            state_.attr("observation")());
    if (static_cast<int>(observation.size()) != observation_size_) {
      throw ConfigurationError("observation() of the game: not of its observation_shape");
    }
    std::copy_n(observation.data(), observation.size(), out);
  }

 private:
  template <class T>
  T get(const char* name) const {
    const nanobind::gil_scoped_acquire lock;
    return nanobind::cast<T>(state_.attr(name));
  }

  // Reads what searches ask for at every step.
  void look() {
    to_move_ = nanobind::cast<int>(state_.attr("to_move"));
    if (to_move_ != 0 && to_move_ != 1) {
      throw ConfigurationError("to_move of the game is " + std::to_string(to_move_) +
                               ", neither 0 nor 1");
    }
    outcome_ = {};
    const nanobind::object outcome = state_.attr("outcome");
    if (outcome.is_none()) return;
    const nanobind::object winner = outcome.attr("winner");
    outcome_.winner = winner.is_none() ? Outcome::kNobody : nanobind::cast<int>(winner);
    const auto name = nanobind::cast<std::string>(nanobind::str(outcome.attr("termination")));
    const auto known = std::find(kTerminationNames.begin(), kTerminationNames.end(), name);
    outcome_.termination = known == kTerminationNames.end()
                               ? Termination::kBlocked  // some rule of its own
                               : static_cast<Termination>(known - kTerminationNames.begin());
  }

  static constexpr std::array<Term, 1> kTerms = {{{"piece", 100}}};

  nanobind::object state_;
  bool has_evaluation_ = false;
  std::array<int, 1> weights_ = {kTerms[0].weight};
  int num_actions_ = 0, observation_size_ = 0;
  int to_move_ = 0;
  Outcome outcome_;
};

static_assert(SearchState<PythonState>);

// Calls visit(a SearchState copy) for any object of the State protocol. The caller holds the lock.
template <class Visit>
void visit_search_state(nanobind::handle state, Visit&& visit) {
  if (nanobind::isinstance<AnyState>(state)) {
    const auto& any = *nanobind::cast<const AnyState*>(state);
    visit_state(any, [&]<Game G>(const State<G>& concrete) {
      visit(NativeSearchState<G>(concrete, any.game->is_absolute));
    });
  } else {
    visit(PythonState(state));
  }
}

}  // namespace deskovky
