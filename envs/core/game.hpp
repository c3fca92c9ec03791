// The Game concept: the few functions that a game's header must offer, always in the same order.
//
// A game is a small value that holds its options. Its rules are functions over a Position, which is
// plain data without heap or pointers. Everything that needs the past of a game (repetition, who
// checked whom) is kept outside, by State in state.hpp, and handed to `adjudicate`.
//
// Words: a turn is one player's whole move, a step is one action. A turn of several steps (jump
// chains, placements) leaves the position "turn open" between them: same player, same turn count.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/planes.hpp"

namespace deskovky {

// An action is plane * squares + square from the mover's view, square = rank * num_files + file.
using Action = int;

// The legal actions of one position. 1,024 is above what any of the games can reach: at most 15 to
// 25 pieces move to at most 36 squares each.
class ActionList {
 public:
  ActionList() = default;
  ActionList(const ActionList& other) { *this = other; }
  ActionList& operator=(const ActionList& other) {
    size_ = other.size_;
    std::copy_n(other.actions_.begin(), size_, actions_.begin());  // never the unused rest
    return *this;
  }

  void push_back(Action action) { actions_[size_++] = static_cast<std::uint16_t>(action); }
  void clear() { size_ = 0; }
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Action operator[](int i) const { return actions_[i]; }
  const std::uint16_t* begin() const { return actions_.data(); }
  const std::uint16_t* end() const { return actions_.data() + size_; }
  bool contains(Action action) const {  // the list is ascending
    return std::binary_search(begin(), end(), action);
  }

 private:
  int size_ = 0;
  std::array<std::uint16_t, 1024> actions_;
};

// Why a game ended; the words of rules.md, in the order of envs/protocol.py, which counts from 1.
enum class Termination : std::uint8_t {
  kOngoing,
  kLionCaptured,
  kTry,
  kMutualTry,
  kCheckmate,
  kStalemate,
  kNoLegalTurn,
  kNoBanneret,
  kNoPieces,
  kBlocked,
  kRepetition,
  kPerpetualCheck,
  kPerpetualChase,
  kQuietLimit,
  kLengthLimit,
  kInsufficientMaterial,
  kIllegalAction,  // only environments end games so
  kMaxTurns,
};

inline constexpr std::array<std::string_view, 18> kTerminationNames = {
    "ongoing",         "lion_captured", "try",           "mutual_try",
    "checkmate",       "stalemate",     "no_legal_turn", "no_banneret",
    "no_pieces",       "blocked",       "repetition",    "perpetual_check",
    "perpetual_chase", "quiet_limit",   "length_limit",  "insufficient_material",
    "illegal_action",  "max_turns"};

struct Outcome {
  static constexpr int kNobody = -1;

  Termination termination = Termination::kOngoing;
  int winner = kNobody;  // 0, 1, or kNobody for a draw, a truncation or a game that goes on

  bool is_over() const { return termination != Termination::kOngoing; }
  // The reward of `player`: +1 win, -1 loss, 0 draw or undecided.
  int reward(int player) const { return winner == kNobody ? 0 : winner == player ? 1 : -1; }
};

inline constexpr Outcome win(int player, Termination termination) { return {termination, player}; }
inline constexpr Outcome draw(Termination termination) { return {termination, Outcome::kNobody}; }

struct Setup {
  std::string_view name;
  std::string_view fen;
};

struct GameInfo {
  std::string_view id;
  int num_ranks;
  int num_files;
  int num_action_planes;
  bool has_pass;             // one more action, the last: the turn of a player who cannot move
  int num_planes;            // of the observation
  int max_turns;             // default safety cap, or agreed length where that is a rule
  bool uses_repetition;      // keep the keys of past turns
  bool single_step_turns;    // every turn is one step
  bool is_mirror_symmetric;  // the rules do not tell left from right
  std::span<const std::string_view> rulesets;  // the first is the default
  std::span<const Setup> setups;               // the first is the default

  constexpr int num_squares() const { return num_ranks * num_files; }
  constexpr int num_actions() const {
    return num_action_planes * num_squares() + (has_pass ? 1 : 0);
  }
  constexpr int pass_action() const { return num_action_planes * num_squares(); }
};

struct GameOptions {
  int ruleset = 0;  // index into GameInfo::rulesets
  int setup = 0;    // index into GameInfo::setups
  int max_turns = 0;
};

// What a position must always carry. `turns` counts the complete turns as the FEN does: twice
// (move - 1), plus one when player 1 is to move; so the mover is its last bit.
struct Counters {
  std::int32_t turns = 0;
  std::int32_t quiet = 0;  // turns since the last event that resets the game's quiet count

  int to_move() const { return turns & 1; }
};

// The start of a turn, kept for repetition.
struct TurnStart {
  std::uint64_t key;
  std::int32_t occurrences;  // of this position so far, this one included
  std::int32_t num_steps;    // steps made before it
};

// The past of a game, oldest first, as State keeps it.
template <class Position>
struct History {
  struct Step {
    Position before;
    Action action;
  };
  std::span<const Step> steps;             // every step since the start
  std::span<const TurnStart> turn_starts;  // every turn start, the current one included

  int occurrences() const { return turn_starts.empty() ? 1 : turn_starts.back().occurrences; }
};

// What an evaluation counts, and what one of it is worth in hundredths of the weakest piece.
struct Term {
  std::string_view name;
  int weight;
};

template <class G>
concept Game =
    std::is_trivially_copyable_v<typename G::Position> &&
    std::derived_from<typename G::Position, Counters> &&
    requires(const G game, const typename G::Position position, typename G::Position& next,
             ActionList& list, Action action, Planes& planes, std::string_view fen, int player,
             const History<typename G::Position>& history) {
      { G::kInfo } -> std::convertible_to<GameInfo>;
      { game.options } -> std::convertible_to<GameOptions>;
      // True between two steps of one turn.
      { position.is_turn_open() } -> std::same_as<bool>;
      // Fills `list` with the legal actions of the mover, ascending and without duplicates. The
      // position is not over.
      { game.legal_actions(position, list) } -> std::same_as<void>;
      // Makes one legal step.
      { game.apply(next, action) } -> std::same_as<void>;
      // How the rules that need no history end the game at the start of this turn.
      { game.outcome(position) } -> std::same_as<Outcome>;
      // How repetition, quiet count or agreed length end a game that `outcome` lets go on.
      { game.adjudicate(position, history) } -> std::same_as<Outcome>;
      // Writes [num_planes, num_ranks, num_files] as `player` sees it. The int is how often the
      // position has occurred.
      { game.write_observation(position, player, 1, planes) } -> std::same_as<void>;
      // Equal if placement, hands, pending piece and side to move are.
      { game.key(position) } -> std::same_as<std::uint64_t>;
      // How many pieces `player` has on the board.
      { game.num_pieces(position, player) } -> std::same_as<int>;
      // For minimax: what each of G::kTerms counts for `player`. The mover's advantage is guessed as
      // the sum of weight * (mover's count - enemy's count). Tuned by tools/tune_evaluation.py.
      { game.features(position, player) } -> std::same_as<std::array<int, G::kTerms.size()>>;
      { G::kTerms[0] } -> std::convertible_to<Term>;
      // Whether a player who can capture must.
      { G::kCapturesAreCompulsory } -> std::convertible_to<bool>;
      // 0 for a quiet action, else how much it promises at once, in hundredths of the weakest piece:
      // what it captures, promotes to or threatens. Zero or not decides what quiescence looks at.
      { game.urgency(position, action) } -> std::same_as<int>;
      // The action on the left-right mirrored board.
      { game.mirror_action(action) } -> std::same_as<Action>;
      { game.action_to_text(position, action) } -> std::same_as<std::string>;
      { game.to_fen(position) } -> std::same_as<std::string>;
      // Throws FenError.
      { game.from_fen(fen) } -> std::same_as<typename G::Position>;
    };

// The key of a position must spread over all 64 bits: the finaliser of SplitMix64 (Steele, Lea and
// Flood 2014), a bijection.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

inline std::string square_name(int square, int num_files) {
  std::string name(1, static_cast<char>('a' + square % num_files));
  name += std::to_string(square / num_files + 1);
  return name;
}

}  // namespace deskovky
