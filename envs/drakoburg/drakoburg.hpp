// Drakoburg (dragon chess, by Vilém Vácha), rules DB-1 to DB-9 of its README.
//
// 7 x 7. Pikeman P: one step forward, straight or diagonally. Archer S: bishop; man-at-arms Z: rook.
// Squire A: one orthogonal step, then outward diagonally; turcopole U: one diagonal step, then
// outward orthogonally; both leap as knights. Banneret T: leaps exactly two squares in a line. All
// but P also step as kings. T is royal while it is a player's only one, and never steps onto an
// attacked square. P promotes on the enemy's row of pikemen, by file. Whoever arrives on a castle
// (a7 d7 g7 for player 0, a1 d1 g1 for player 1) adds a pikeman in the same turn.
//
//   7  42 43 44 45 46 47 48      Bitboards are as player 0 sees the board; actions and observations
//   ..                           are as the mover sees it, player 1 mirrored top to bottom.
//   2   7  8  9 10 11 12 13
//   1   0  1  2  3  4  5  6
//       a  b  c  d  e  f  g
//
// Action = plane * 49 + square. Planes 0-47: 6 * direction (N NE E SE S SW W NW) + distance - 1;
// 48-119: 48 + 9 * octant (clockwise from NNE) + displacement, the knight's leap (1,2), the
// squire's (2,3) (3,4) (4,5) (5,6), the turcopole's (1,3) (1,4) (1,5) (1,6); 120: place a pikeman.
// Observation planes, as `player` sees it: 0-5 own P S Z A U T, 6-11 enemy P S Z A U T, 12 a
// placement is owed, 13 quiet / 100, 14 (occurrences - 1) / 2.
#pragma once

#include <bit>

#include "core/action_set.hpp"
#include "core/fen.hpp"
#include "core/game.hpp"

namespace deskovky {

struct Drakoburg {
  static constexpr std::array<std::string_view, 1> kRulesets = {"standard"};
  static constexpr std::array<Setup, 3> kSetups = {{
      {"default", "z1sta1u/ppppppp/7/7/7/PPPPPPP/Z1STA1U w - 0 1"},
      {"wide", "zs1t1au/ppppppp/7/7/7/PPPPPPP/ZS1T1AU w - 0 1"},
      {"paired", "zsstaau/p1ppp1p/7/7/7/P1PPP1P/ZSSTAAU w - 0 1"},
  }};
  static constexpr GameInfo kInfo = {
      .id = "drakoburg_v0",
      .num_ranks = 7,
      .num_files = 7,
      .num_action_planes = 121,
      .has_pass = false,
      .num_planes = 15,
      .max_turns = 400,
      .uses_repetition = true,
      .single_step_turns = false,
      .is_mirror_symmetric = false,
      .rulesets = kRulesets,
      .setups = kSetups,
  };

  using Bits = std::uint64_t;  // one bit a square, bit 0 = a1
  enum Piece { P, S, Z, A, U, T };
  static constexpr std::string_view kLetters = "PSZAUT";
  static constexpr int kNumSquares = 49, kPlacementPlane = 120, kQuietLimit = 100;

  struct Position : Counters {
    std::array<std::array<Bits, 6>, 2> pieces = {};  // by player and Piece
    bool owes_placement = false;                     // DB-8: between the two steps of a turn

    bool is_turn_open() const { return owes_placement; }
    const std::array<Bits, 6>& own() const { return pieces[to_move()]; }
    const std::array<Bits, 6>& enemy() const { return pieces[1 - to_move()]; }
    Bits occupied(int player) const {
      const auto& p = pieces[player];
      return p[P] | p[S] | p[Z] | p[A] | p[U] | p[T];
    }
    Bits occupied() const { return occupied(0) | occupied(1); }
  };

  GameOptions options;

  void legal_actions(const Position& position, ActionList& list) const {
    list.clear();
    const int mover = position.to_move();
    if (position.owes_placement) {
      Bits squares = kPikemenRow[0] & ~turned(position.occupied(), mover);
      for (; squares; squares &= squares - 1) {
        list.push_back(kPlacementPlane * kNumSquares + first(squares));
      }
      return;
    }
    ActionSet<kInfo.num_actions()> actions;
    visit_moves(position, [&](int from, int to) {
      actions.add(action_of(turned(from, mover), turned(to, mover)));
      return true;
    });
    actions.list(list);
  }

  void apply(Position& position, Action action) const {
    const int mover = position.to_move();
    auto& own = position.pieces[mover];
    if (action / kNumSquares == kPlacementPlane) {
      own[P] |= bit(turned(action % kNumSquares, mover));
      position.owes_placement = false;
      position.quiet = 0;
      ++position.turns;
      return;
    }
    const auto [own_from, own_to] = squares_of(action);
    const int from = turned(own_from, mover), to = turned(own_to, mover);
    const int piece = piece_on(own, from);
    bool resets_quiet = piece == P;
    for (Bits& enemies : position.pieces[1 - mover]) {
      resets_quiet |= (enemies & bit(to)) != 0;
      enemies &= ~bit(to);
    }
    own[piece] ^= bit(from);
    own[promoted(piece, to, mover)] |= bit(to);
    if (resets_quiet) position.quiet = 0;
    if ((bit(to) & kCastles[mover]) && (kPikemenRow[mover] & ~position.occupied())) {
      position.owes_placement = true;  // DB-8: the turn goes on
      return;
    }
    if (!resets_quiet) ++position.quiet;
    ++position.turns;
  }

  Outcome outcome(const Position& position) const {
    const int mover = position.to_move();
    if (!position.own()[T]) return win(1 - mover, Termination::kNoBanneret);
    if (!position.enemy()[T]) return win(mover, Termination::kNoBanneret);
    const bool can_move = !visit_moves(position, [](int, int) { return false; });
    if (can_move) return {};
    for (Bits bannerets = position.own()[T]; bannerets; bannerets &= bannerets - 1) {
      if (is_attacked(position, first(bannerets), position.occupied(), 0, false)) {
        return win(1 - mover, Termination::kCheckmate);  // DB-6
      }
    }
    return draw(Termination::kStalemate);
  }

  // DB-9.
  Outcome adjudicate(const Position& position, const History<Position>& history) const {
    if (history.occurrences() >= 3) return draw(Termination::kRepetition);
    return position.quiet >= kQuietLimit ? draw(Termination::kQuietLimit) : Outcome{};
  }

  // The legal turns at the start of a turn, placements counted; 0 if the game is over. For perft.
  int count_turns(const Position& position) const {
    if (!position.own()[T] || !position.enemy()[T]) return 0;
    const int mover = position.to_move();
    const Bits row = kPikemenRow[mover] & ~position.occupied();
    int count = 0;
    visit_moves(position, [&](int from, int to) {
      const Bits free = row | (bit(from) & kPikemenRow[mover]);
      count += (bit(to) & kCastles[mover]) && free ? std::popcount(free) : 1;
      return true;
    });
    return count;
  }

  void write_observation(const Position& position, int player, int occurrences,
                         Planes& planes) const {
    for (int side = 0; side < 2; ++side) {
      for (int piece = P; piece <= T; ++piece) {
        const int plane = 6 * (side != player) + piece;
        for (Bits b = position.pieces[side][piece]; b; b &= b - 1) {
          planes.mark(plane, turned(first(b), player));
        }
      }
    }
    if (position.owes_placement) planes.fill(12, 1.0f);
    planes.fill(13, static_cast<float>(std::min<int>(position.quiet, kQuietLimit)) / kQuietLimit);
    if (occurrences > 1) planes.fill(14, (occurrences - 1) / 2.0f);
  }

  std::uint64_t key(const Position& position) const {
    std::uint64_t sum = 2 * position.owes_placement + position.to_move();
    for (int piece = P; piece <= T; ++piece) {
      for (int player = 0; player < 2; ++player) {
        const std::uint64_t tag = 2 * piece + player;  // 49 bits hold the squares
        sum += mix(position.pieces[player][piece] | tag << 56);
      }
    }
    return mix(sum);
  }

  int num_pieces(const Position& position, int player) const {
    return std::popcount(position.occupied(player));
  }

  // In hundredths of a pikeman. A banneret that is not the last one is about a piece of its range.
  static constexpr auto kTerms = std::to_array<Term>({
      {"pikeman", 100},
      {"archer", 300},
      {"man-at-arms", 500},
      {"squire", 600},
      {"turcopole", 700},
      {"banneret", 500},
      {"pikeman's rank", 8},
      {"piece's ring from the edge", 6},
      {"banneret's rank", 0},
  });
  static constexpr bool kCapturesAreCompulsory = false;

  std::array<int, kTerms.size()> features(const Position& position, int player) const {
    const auto& own = position.pieces[player];
    const Bits pieces = own[S] | own[Z] | own[A] | own[U];
    const auto ranks = [&](Bits bits) {  // the sum of the owner's ranks
      int sum = 0;
      for (int rank = 1; rank < 7; ++rank) {
        sum += std::popcount(player ? bits & (kAll >> (7 * rank)) : bits >> (7 * rank));
      }
      return sum;
    };
    return {std::popcount(own[P]),
            std::popcount(own[S]),
            std::popcount(own[Z]),
            std::popcount(own[A]),
            std::popcount(own[U]),
            std::popcount(own[T]),
            ranks(own[P]),
            std::popcount(pieces & kRings[0]) + std::popcount(pieces & kRings[1]) +
                std::popcount(pieces & kRings[2]),
            ranks(own[T])};
  }

  // Captures and promotions.
  int urgency(const Position& position, Action action) const {
    if (action / kNumSquares == kPlacementPlane) return 0;
    const int mover = position.to_move();
    const Offset offset = kOffsets[action / kNumSquares];
    const int own_from = action % kNumSquares;
    const int from = turned(own_from, mover);
    const int to = turned(own_from + 7 * offset.rank + offset.file, mover);
    static constexpr std::array<int, 6> kValues = {100, 300, 500, 600, 700, 1000};
    int sum = 0;
    if (position.occupied(1 - mover) & bit(to)) sum = kValues[piece_on(position.enemy(), to)];
    if (position.own()[P] & bit(from)) sum += kValues[promoted(P, to, mover)] - kValues[P];
    return sum;
  }

  bool is_check(const Position& position) const {
    const Bits bannerets = position.own()[T];
    return bannerets && !(bannerets & (bannerets - 1)) &&
           is_attacked(position, first(bannerets), position.occupied(), 0, false);
  }

  Action mirror_action(Action action) const {
    const int plane = action / kNumSquares, square = action % kNumSquares;
    int mirrored = plane;
    if (plane < 48) mirrored = (8 - plane / 6) % 8 * 6 + plane % 6;
    if (48 <= plane && plane < 120) mirrored = 48 + 9 * (7 - (plane - 48) / 9) + (plane - 48) % 9;
    return mirrored * kNumSquares + square / 7 * 7 + 6 - square % 7;
  }

  // Of an action that leads off the board only the text is odd.
  std::string action_to_text(const Position& position, Action action) const {
    const auto name = [&](int own_square) {
      return square_name(turned(own_square, position.to_move()), 7);
    };
    if (action / kNumSquares == kPlacementPlane) return "P@" + name(action % kNumSquares);
    const auto [from, to] = squares_of(action);
    return name(from) + (to < 0 ? "--" : name(to));
  }

  std::string to_fen(const Position& position) const {
    std::string squares(kNumSquares, '.');
    for (int player = 0; player < 2; ++player) {
      for (int piece = P; piece <= T; ++piece) {
        const char letter = static_cast<char>(kLetters[piece] + (player ? 'a' - 'A' : 0));
        for (Bits b = position.pieces[player][piece]; b; b &= b - 1) squares[first(b)] = letter;
      }
    }
    return board_to_fen(squares, 7, 7) + " " + side_to_fen(position) +
           (position.owes_placement ? " @ " : " - ") + counters_to_fen(position);
  }

  Position from_fen(std::string_view fen) const {
    const auto fields = fen_fields(fen);
    if (fields.size() != 2 && fields.size() != 5) {
      throw FenError("board", "expected 2 or 5 fields: board side [pending quiet move]");
    }
    Position position;
    const bool is_full = fields.size() == 5;
    static_cast<Counters&>(position) =
        counters_from_fen(fields[1], is_full ? fields[3] : "0", is_full ? fields[4] : "1");
    const std::string squares = board_from_fen(fields[0], 7, 7, kLetters);
    for (int square = 0; square < kNumSquares; ++square) {
      if (squares[square] == '.') continue;
      const int player = squares[square] >= 'a';
      const auto piece = kLetters.find(static_cast<char>(squares[square] - (player ? 32 : 0)));
      position.pieces[player][piece] |= bit(square);
    }
    if (!position.pieces[0][T] && !position.pieces[1][T]) {
      throw FenError("board", "no banneret on the board");
    }
    if (is_full && fields[2] != "-") read_pending(position, fields[2]);
    return position;
  }

 private:
  struct Offset {
    int file, rank;
  };
  struct Move {
    int from, to;  // `to` is -1 off the board
  };

  static constexpr std::array<Bits, 2> kPikemenRow = {Bits{0x7f} << 7, Bits{0x7f} << 35};
  static constexpr std::array<Bits, 2> kCastles = {Bits{0b1001001} << 42, Bits{0b1001001}};
  static constexpr Bits kAll = (Bits{1} << 49) - 1;
  static constexpr std::array<Bits, 3> kRings = [] {  // not on the edge, two and three off the edge
    std::array<Bits, 3> rings = {};
    for (int ring = 0; ring < 3; ++ring) {
      for (int square = 0; square < kNumSquares; ++square) {
        const int file = square % 7, rank = square / 7;
        const int distance = std::min({file, 6 - file, rank, 6 - rank});
        if (distance > ring) rings[ring] |= Bits{1} << square;
      }
    }
    return rings;
  }();
  static constexpr std::array<Piece, 7> kPromotions = {Z, S, S, T, A, A, U};  // DB-7, by file

  static constexpr Bits bit(int square) { return Bits{1} << square; }
  static constexpr int first(Bits bits) { return std::countr_zero(bits); }

  // The square as `player` sees it, and back.
  static constexpr int turned(int square, int player) {
    return player ? square + 42 - square / 7 * 14 : square;
  }
  static constexpr Bits turned(Bits bits, int player) {
    if (!player) return bits;
    Bits result = 0;
    for (int rank = 0; rank < 7; ++rank) result |= (bits >> (7 * rank) & 0x7f) << (42 - 7 * rank);
    return result;
  }

  // Where the moves of each plane lead.
  static constexpr std::array<Offset, 120> kOffsets = [] {
    std::array<Offset, 120> offsets = {};
    constexpr Offset kDirections[8] = {{0, 1},  {1, 1},   {1, 0},  {1, -1},
                                       {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}};
    constexpr Offset kShortAndLong[9] = {{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6},
                                         {1, 3}, {1, 4}, {1, 5}, {1, 6}};
    for (int plane = 0; plane < 48; ++plane) {
      const Offset step = kDirections[plane / 6];
      const int distance = plane % 6 + 1;
      offsets[plane] = {distance * step.file, distance * step.rank};
    }
    for (int octant = 0; octant < 8; ++octant) {
      for (int i = 0; i < 9; ++i) {
        const auto [shorter, longer] = kShortAndLong[i];
        const bool is_steep = octant % 4 == 0 || octant % 4 == 3;
        const int file = is_steep ? shorter : longer, rank = is_steep ? longer : shorter;
        offsets[48 + 9 * octant + i] = {octant < 4 ? file : -file,
                                        2 <= octant && octant < 6 ? -rank : rank};
      }
    }
    return offsets;
  }();

  // The square that lies so far from `square`, -1 off the board.
  static constexpr int moved(int square, Offset offset) {
    const int file = square % 7 + offset.file, rank = square / 7 + offset.rank;
    return 0 <= file && file < 7 && 0 <= rank && rank < 7 ? 7 * rank + file : -1;
  }

  // DB-2 on an empty board: whether a piece of player 0 moves along a plane.
  static constexpr bool uses_plane(int piece, int plane) {
    const bool is_line = plane < 48, is_diagonal = plane / 6 % 2;
    const int distance = plane % 6 + 1, bend = is_line ? -1 : (plane - 48) % 9;
    const bool is_king_step = is_line && distance == 1;
    switch (piece) {
      case P: return plane == 0 || plane == 6 || plane == 42;
      case S: return is_king_step || (is_line && is_diagonal);
      case Z: return is_king_step || (is_line && !is_diagonal);
      case A: return is_king_step || (0 <= bend && bend <= 4);
      case U: return is_king_step || bend == 0 || 5 <= bend;
      default: return is_line && distance <= 2;
    }
  }

  struct Tables {
    // The squares that a piece reaches on an empty board, by player, piece and origin. All but the
    // pikeman's are the same backwards.
    Bits reach[2][6][kNumSquares];
    // What must be empty between origin and target; nothing for leaps.
    Bits between[kNumSquares][kNumSquares];
    std::uint8_t plane[kNumSquares][kNumSquares];
  };
  static const Tables kTables;  // computed below

  // Both as the mover sees the squares.
  static Action action_of(int from, int to) { return kTables.plane[from][to] * kNumSquares + from; }
  static Move squares_of(Action action) {
    const int square = action % kNumSquares;
    return {square, moved(square, kOffsets[action / kNumSquares])};
  }

  static int piece_on(const std::array<Bits, 6>& pieces, int square) {
    int piece = P;
    while (piece < T && !(pieces[piece] & bit(square))) ++piece;
    return piece;
  }

  static int promoted(int piece, int to, int player) {
    return piece == P && (bit(to) & kPikemenRow[1 - player]) ? kPromotions[to % 7] : piece;
  }

  // DB-3: whether the mover's banneret on `square` would be attacked if `occupied` were the pieces
  // on the board and the enemy's `captured` piece gone.
  static bool is_attacked(const Position& position, int square, Bits occupied, Bits captured,
                          bool by_bannerets) {
    const auto& enemy = position.enemy();
    const auto& reach = kTables.reach[position.to_move()];
    for (int piece = P; piece <= U; ++piece) {
      Bits attackers = enemy[piece] & reach[piece][square] & ~captured;
      for (; attackers; attackers &= attackers - 1) {
        if (!(kTables.between[first(attackers)][square] & occupied)) return true;
      }
    }
    return by_bannerets && (enemy[T] & reach[T][square]);
  }

  // DB-4 and DB-5.
  static bool is_legal(const Position& position, int piece, int from, int to, Bits occupied) {
    const Bits now_occupied = (occupied & ~bit(from)) | bit(to);
    if (piece == T && is_attacked(position, to, now_occupied, bit(to), true)) return false;
    Bits bannerets = position.own()[T] & ~bit(from);
    if (promoted(piece, to, position.to_move()) == T) bannerets |= bit(to);
    const bool is_only_one = !(bannerets & (bannerets - 1));
    if (piece == T || !is_only_one) return true;
    return !is_attacked(position, first(bannerets), now_occupied, bit(to), false);
  }

  // The squares from which a move may leave the mover's only banneret attacked: those on the lines
  // of enemy pieces towards it, or all if it is attacked already.
  static Bits guards(const Position& position) {
    const Bits bannerets = position.own()[T];
    if (std::popcount(bannerets) != 1) return 0;
    const int square = first(bannerets);
    const Bits occupied = position.occupied();
    Bits guards = 0;
    for (int piece = P; piece <= U; ++piece) {
      Bits attackers = position.enemy()[piece] & kTables.reach[position.to_move()][piece][square];
      for (; attackers; attackers &= attackers - 1) {
        const Bits line = kTables.between[first(attackers)][square];
        if (!(line & occupied)) return kAll;
        guards |= line;
      }
    }
    return guards;
  }

  // Calls visit(from, to) for every legal move step until it returns false; returns whether it
  // never did.
  template <class Visit>
  static bool visit_moves(const Position& position, Visit&& visit) {
    const int mover = position.to_move();
    const auto& own = position.own();
    const Bits own_occupied = position.occupied(mover), occupied = position.occupied();
    const Bits must_look = guards(position) | own[T];
    for (int piece = P; piece <= T; ++piece) {
      const Bits forbidden = own_occupied | (piece == T ? position.enemy()[T] : 0);  // DB-3
      for (Bits origins = own[piece]; origins; origins &= origins - 1) {
        const int from = first(origins);
        Bits targets = kTables.reach[mover][piece][from] & ~forbidden;
        for (; targets; targets &= targets - 1) {
          const int to = first(targets);
          if (piece != T && (kTables.between[from][to] & occupied)) continue;
          if ((bit(from) & must_look) && !is_legal(position, piece, from, to, occupied)) continue;
          if (!visit(from, to)) return false;
        }
      }
    }
    return true;
  }

  static void read_pending(Position& position, std::string_view text) {
    if (text != "@") {
      throw FenError("pending", "'" + std::string(text) + "' is neither '-' nor '@'");
    }
    const int mover = position.to_move();
    if (!(position.occupied(mover) & kCastles[mover])) {
      throw FenError("pending", "'@' without a piece of the player to move on a castle");
    }
    if (!(kPikemenRow[mover] & ~position.occupied())) {
      throw FenError("pending", "'@' without an empty square in the row of pikemen");
    }
    position.owes_placement = true;
  }
};

inline constexpr Drakoburg::Tables Drakoburg::kTables = [] {
  Tables tables = {};
  for (int plane = 0; plane < 120; ++plane) {
    const Offset offset = kOffsets[plane];
    const auto sign = [](int x) { return (x > 0) - (x < 0); };
    const bool is_line = plane < 48, is_squires = !is_line && (plane - 48) % 9 <= 4;
    const int files = offset.file < 0 ? -offset.file : offset.file;
    const int ranks = offset.rank < 0 ? -offset.rank : offset.rank;
    const int length = std::max(files, ranks);
    for (int from = 0; from < kNumSquares; ++from) {
      const int to = moved(from, offset);
      if (to < 0) continue;
      tables.plane[from][to] = static_cast<std::uint8_t>(plane);
      for (int piece = P; piece <= T; ++piece) {
        if (!uses_plane(piece, plane)) continue;
        tables.reach[0][piece][from] |= bit(to);
        tables.reach[1][piece][turned(from, 1)] |= bit(turned(to, 1));
      }
      if (!is_line && (plane - 48) % 9 == 0) continue;  // the knight's leap
      for (int i = 1; i < length; ++i) {
        // After i steps along the longer side: a line goes on straight, the squire's first step
        // was orthogonal, the turcopole's only step along the shorter side was the first.
        const int shorter = is_line ? std::min({i, files, ranks}) : is_squires ? i - 1 : 1;
        const bool is_flat = files >= ranks;
        const int square = moved(from, {sign(offset.file) * (is_flat ? i : shorter),
                                        sign(offset.rank) * (is_flat ? shorter : i)});
        tables.between[from][to] |= bit(square);
      }
    }
  }
  return tables;
}();

static_assert(Game<Drakoburg>);

}  // namespace deskovky
