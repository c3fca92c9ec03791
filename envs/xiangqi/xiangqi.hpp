// Xiangqi (Chinese chess), rules XQ-1 to XQ-8 of its README.
//
// 9 files x 10 ranks. General K and advisor A stay in the palace, elephant B on its side of the
// river. Chariot R: rook; cannon C: moves as a rook, captures by jumping one piece; horse N: a
// knight that a piece beside it blocks; soldier P: forward, across the river also sideways. The
// generals never face each other. Without a legal turn a player has lost. One piece never checks
// four times in a row if no other piece of either player moves (not in ruleset axf). A position
// that occurs three times is lost for who checks, or else chases one piece, all the time.
//
//  10  81 .. 89        Positions are as player 0 sees the board; actions and observations are as
//  ..                  the mover sees it, player 1's board turned by 180 degrees (89 - s).
//   2   9 .. 17
//   1   0 ..  8
//       a  ..  i
//
// Action = plane * 90 + square. Planes 0-8 north by 1-9, 9-17 south by 1-9, 18-25 east by 1-8,
// 26-33 west by 1-8, 34-41 horse clockwise from NNE, 42-45 elephant NE SE SW NW, 46-49 advisor.
// Observation planes, as `player` sees it: 0-6 own K A B N R C P, 7-13 enemy K A B N R C P, 14-16
// own checking chain (length / 3, its checking piece, the enemy piece that answers), 17-19 the
// enemy's, 20 quiet / 120, 21 (occurrences - 1) / 2.
#pragma once

#include "core/action_set.hpp"
#include "core/fen.hpp"
#include "core/game.hpp"

namespace deskovky {

struct Xiangqi {
  enum Ruleset { kStandard, kAxf };  // in the order of kRulesets
  static constexpr std::array<std::string_view, 2> kRulesets = {"standard", "axf"};
  static constexpr std::array<Setup, 1> kSetups = {
      {{"default", "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"}}};
  static constexpr GameInfo kInfo = {
      .id = "xiangqi_v0",
      .num_ranks = 10,
      .num_files = 9,
      .num_action_planes = 50,
      .has_pass = false,
      .num_planes = 22,
      .max_turns = 500,
      .uses_repetition = true,
      .single_step_turns = true,
      .is_mirror_symmetric = true,
      .rulesets = kRulesets,
      .setups = kSetups,
  };

  enum Piece { K, A, B, N, R, C, P };
  static constexpr std::string_view kLetters = "KABNRCP";
  static constexpr int kNumSquares = 90, kNumSlots = 16, kQuietLimit = 120, kMaxChain = 3;
  static constexpr std::uint8_t kNowhere = 90;  // the square of a captured piece; always empty
  static constexpr std::uint8_t kEmpty = 32;    // on the board
  static constexpr std::uint8_t kNobody = 16;   // no slot

  // Each piece of a player keeps its slot for the whole game, so it can be followed.
  static constexpr std::array<Piece, kNumSlots> kPieces = {K, A, A, B, B, N, N, R,
                                                           R, C, C, P, P, P, P, P};
  static constexpr std::array<int, 5> kLineSlots = {0, 7, 8, 9, 10};  // general: it faces the other
  static constexpr std::array<int, 2> kHorseSlots = {5, 6};

  // XQ-4: the checks in a row by one piece, all answered by one piece.
  struct Chain {
    std::uint8_t length = 0;
    std::uint8_t checker = kNobody;   // the slot that checks
    std::uint8_t answerer = kNobody;  // the enemy's slot that moved in between
  };

  // A set of squares.
  class Squares {
   public:
    void add(int square) { words_[square / 64] |= std::uint64_t{1} << (square % 64); }
    bool contains(int square) const { return words_[square / 64] >> (square % 64) & 1; }

   private:
    std::array<std::uint64_t, 2> words_ = {};
  };

  struct Position : Counters {
    // While the mover's general is not attacked, only moves from or to these squares, and its own,
    // can expose it: between it and a line piece that is one piece short or over, legs of horses.
    Squares sensitive;
    std::array<std::array<std::uint8_t, kNumSlots>, 2> squares;  // by player and slot
    std::array<std::uint8_t, kNumSquares + 1> board;             // 16 * player + slot
    std::array<Chain, 2> chains;                                 // by checking player
    bool is_check = false;                                       // the mover's general is attacked
    std::uint8_t reversible = 0;  // turns since the last capture or forward step of a soldier

    Position() {
      for (auto& own : squares) own.fill(kNowhere);
      board.fill(kEmpty);
    }
    bool is_turn_open() const { return false; }
    bool is_on_board(int player, int slot) const { return squares[player][slot] != kNowhere; }
  };

  GameOptions options;

  void legal_actions(const Position& position, ActionList& list) const {
    list.clear();
    const int mover = position.to_move();
    ActionSet<kInfo.num_actions()> actions;
    visit_moves(position, [&](int from, int plane) {
      actions.add(plane * kNumSquares + turned(from, mover));
      return true;
    });
    actions.list(list);
  }

  void apply(Position& position, Action action) const {
    const int mover = position.to_move();
    const auto [own_from, own_to] = squares_of(action);
    const int from = turned(own_from, mover), to = turned(own_to, mover);
    const int slot = position.board[from] % kNumSlots, captured = position.board[to];
    move(position, from, to);
    ++position.turns;
    position.quiet = captured == kEmpty ? position.quiet + 1 : 0;
    const bool is_advance = kPieces[slot] == P && kTables.file[from] == kTables.file[to];
    position.reversible = captured == kEmpty && !is_advance
                              ? static_cast<std::uint8_t>(std::min(position.reversible + 1, 255))
                              : std::uint8_t{0};
    look_at_general(position);
    if (options.ruleset == kStandard) {
      update_chains(position, mover, slot, captured == kEmpty ? kNobody : captured % kNumSlots);
    }
  }

  Outcome outcome(const Position& position) const {
    const bool can_move = !visit_moves(position, [](int, int) { return false; });
    if (!can_move) {  // XQ-3
      return win(1 - position.to_move(),
                 position.is_check ? Termination::kCheckmate : Termination::kStalemate);
    }
    return can_win(position) ? Outcome{} : draw(Termination::kInsufficientMaterial);  // XQ-7
  }

  Outcome adjudicate(const Position& position, const History<Position>& history) const {
    if (history.occurrences() >= 3) return judge_repetition(position, history);
    return position.quiet >= kQuietLimit ? draw(Termination::kQuietLimit) : Outcome{};
  }

  // A position cannot repeat one that is more turns back.
  int reversible_turns(const Position& position) const { return position.reversible; }

  // The number of legal turns, 0 if the game is over. For perft.
  int count_turns(const Position& position) const {
    if (!can_win(position)) return 0;
    int count = 0;
    visit_moves(position, [&](int, int) {
      ++count;
      return true;
    });
    return count;
  }

  void write_observation(const Position& position, int player, int occurrences,
                         Planes& planes) const {
    const auto mark = [&](int plane, int side, int slot) {
      if (slot == kNobody || !position.is_on_board(side, slot)) return;
      planes.mark(plane, turned(position.squares[side][slot], player));
    };
    for (const int side : {player, 1 - player}) {
      const bool is_enemy = side != player;
      for (int slot = 0; slot < kNumSlots; ++slot) mark(7 * is_enemy + kPieces[slot], side, slot);
      const Chain& chain = position.chains[side];
      if (!chain.length) continue;
      const int plane = 14 + 3 * is_enemy;
      planes.fill(plane, static_cast<float>(chain.length) / kMaxChain);
      mark(plane + 1, side, chain.checker);
      mark(plane + 2, 1 - side, chain.answerer);
    }
    planes.fill(20, static_cast<float>(std::min<int>(position.quiet, kQuietLimit)) / kQuietLimit);
    if (occurrences > 1) planes.fill(21, (occurrences - 1) / 2.0f);
  }

  std::uint64_t key(const Position& position) const {
    std::uint64_t sum = position.to_move();
    for (int player = 0; player < 2; ++player) {
      for (int slot = 0; slot < kNumSlots; ++slot) {
        if (!position.is_on_board(player, slot)) continue;
        sum += mix((16 * player + kPieces[slot]) * 128 + position.squares[player][slot]);
      }
    }
    return mix(sum);
  }

  // For searches: the quiet count ends games (XQ-7), and the chains decide what is legal (XQ-4).
  std::uint64_t search_key(const Position& position) const {
    std::uint64_t hash = key(position) ^ mix(position.quiet);
    for (int player = 0; player < 2; ++player) {
      const auto square = [&](int owner, int slot) {
        return slot == kNobody ? kNowhere : position.squares[owner][slot];
      };
      const Chain& chain = position.chains[player];
      const int squares = 128 * square(player, chain.checker) + square(1 - player, chain.answerer);
      hash = mix(hash + 4 * squares + chain.length);
    }
    return hash;
  }

  int num_pieces(const Position& position, int player) const {
    const auto& squares = position.squares[player];
    return kNumSlots - static_cast<int>(std::count(squares.begin(), squares.end(), kNowhere));
  }

  // In hundredths of a soldier.
  static constexpr auto kTerms = std::to_array<Term>({
      {"advisor", 200},
      {"elephant", 200},
      {"horse", 400},
      {"chariot", 900},
      {"cannon", 450},
      {"soldier", 100},
      {"soldier across the river", 100},
      {"soldier on the last rank", -100},
      {"horse's file from the edge", 5},
      {"horse's rank", 5},
      {"chariot's file from the edge", 5},
      {"chariot's rank", 5},
      {"cannon's file from the edge", 5},
      {"crossed soldier's file from the edge", 15},
  });
  static constexpr bool kCapturesAreCompulsory = false;

  std::array<int, kTerms.size()> features(const Position& position, int player) const {
    std::array<int, 7> counts = {};
    int crossed = 0, on_last_rank = 0, crossed_files = 0;
    std::array<int, 7> files = {}, ranks = {};
    for (int slot = 0; slot < kNumSlots; ++slot) {
      if (!position.is_on_board(player, slot)) continue;
      const int square = turned(position.squares[player][slot], player), piece = kPieces[slot];
      const int rank = kTables.rank[square], file = 4 - std::abs(kTables.file[square] - 4);
      ++counts[piece];
      files[piece] += file;
      ranks[piece] += std::min(rank, 7);
      if (piece == P && rank >= 5) {
        ++crossed;
        on_last_rank += rank == 9;
        if (rank < 9) crossed_files += file;
      }
    }
    return {counts[A],    counts[B], counts[N], counts[R], counts[C], counts[P], crossed,
            on_last_rank, files[N],  ranks[N],  files[R],  ranks[R],  files[C],  crossed_files};
  }

  // Captures.
  int urgency(const Position& position, Action action) const {
    const int mover = position.to_move();
    const Offset offset = kOffsets[action / kNumSquares];
    const int own_to = action % kNumSquares + 9 * offset.rank + offset.file;
    const int captured = position.board[turned(own_to, mover)];
    if (captured == kEmpty) return 0;
    static constexpr std::array<int, 7> kValues = {0, 200, 200, 400, 900, 450, 150};
    return kValues[kPieces[captured % kNumSlots]];
  }

  bool is_check(const Position& position) const { return position.is_check; }

  Action mirror_action(Action action) const {
    const int plane = action / kNumSquares, square = action % kNumSquares;
    int mirrored = plane;
    if (18 <= plane && plane < 34) mirrored = plane < 26 ? plane + 8 : plane - 8;
    if (34 <= plane && plane < 42) mirrored = 34 + 41 - plane;
    if (42 <= plane && plane < 46) mirrored = 42 + 45 - plane;
    if (46 <= plane) mirrored = 46 + 49 - plane;
    return mirrored * kNumSquares + square / 9 * 9 + 8 - square % 9;
  }

  // Of an action that leads off the board only the text is odd.
  std::string action_to_text(const Position& position, Action action) const {
    const auto name = [&](int own_square) {
      return square_name(turned(own_square, position.to_move()), 9);
    };
    const auto [from, to] = squares_of(action);
    return name(from) + (to < 0 ? "--" : name(to));
  }

  std::string to_fen(const Position& position) const {
    std::string squares(kNumSquares, '.');
    for (int player = 0; player < 2; ++player) {
      for (int slot = 0; slot < kNumSlots; ++slot) {
        if (!position.is_on_board(player, slot)) continue;
        squares[position.squares[player][slot]] =
            static_cast<char>(kLetters[kPieces[slot]] + (player ? 'a' - 'A' : 0));
      }
    }
    return board_to_fen(squares, 10, 9) + " " + side_to_fen(position) + " - - " +
           counters_to_fen(position);
  }

  Position from_fen(std::string_view fen) const {
    const auto fields = fen_fields(fen);
    if (fields.size() != 2 && fields.size() != 6) {
      throw FenError("board", "expected 2 or 6 fields: board side [- - quiet move]");
    }
    const bool is_full = fields.size() == 6;
    if (is_full && (fields[2] != "-" || fields[3] != "-")) {
      throw FenError("dashes", "the third and fourth of six fields are '-'");
    }
    Position position;
    static_cast<Counters&>(position) =
        counters_from_fen(fields[1], is_full ? fields[4] : "0", is_full ? fields[5] : "1");
    read_board(position, fields[0]);
    const int mover = position.to_move();
    if (is_attacked(position, 1 - mover)) {
      throw FenError("board", std::string("player ") + (mover ? "1" : "0") +
                                  " is to move and could capture the general");
    }
    look_at_general(position);
    return position;
  }

 private:
  struct Offset {
    int file, rank;
  };
  struct Move {
    int from, to;  // `to` is -1 off the board
  };

  // The square as `player` sees it, and back.
  static constexpr int turned(int square, int player) { return player ? 89 - square : square; }

  // Where the moves of each plane lead.
  static constexpr std::array<Offset, 50> kOffsets = [] {
    std::array<Offset, 50> offsets = {};
    for (int i = 0; i < 9; ++i) {
      offsets[i] = {0, i + 1};
      offsets[9 + i] = {0, -(i + 1)};
    }
    for (int i = 0; i < 8; ++i) {
      offsets[18 + i] = {i + 1, 0};
      offsets[26 + i] = {-(i + 1), 0};
    }
    constexpr Offset kHorse[8] = {{1, 2},   {2, 1},   {2, -1}, {1, -2},
                                  {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};
    constexpr Offset kDiagonals[4] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
    for (int i = 0; i < 8; ++i) offsets[34 + i] = kHorse[i];
    for (int i = 0; i < 4; ++i) {
      offsets[42 + i] = {2 * kDiagonals[i].file, 2 * kDiagonals[i].rank};
      offsets[46 + i] = kDiagonals[i];
    }
    return offsets;
  }();

  // The square that lies so far from `square`, -1 off the board.
  static constexpr int moved(int square, Offset offset) {
    const int file = square % 9 + offset.file, rank = square / 9 + offset.rank;
    return 0 <= file && file < 9 && 0 <= rank && rank < 10 ? 9 * rank + file : -1;
  }

  // The points that a general, advisor or elephant can ever stand on, as its owner sees them.
  static constexpr bool is_reachable(int piece, int square) {
    const int file = square % 9, rank = square / 9;
    const bool is_in_palace = 3 <= file && file <= 5 && rank <= 2;
    switch (piece) {
      case K: return is_in_palace;
      case A: return is_in_palace && (file + rank) % 2 == 1;
      case B: return rank <= 4 && file % 2 == 0 && rank % 2 == 0 && (file + rank) % 4 == 2;
      default: return true;
    }
  }

  // XQ-1 for the pieces that do not move along lines.
  struct Leap {
    std::uint8_t to, through;  // `through` must be empty; kNowhere always is
    std::uint8_t plane;
  };
  struct Leaps {
    std::uint8_t size;
    std::array<Leap, 8> leaps;

    const Leap* begin() const { return leaps.data(); }
    const Leap* end() const { return leaps.data() + size; }
  };
  struct Tables {
    std::array<std::uint8_t, kNumSquares> file, rank;
    std::array<std::array<std::array<Leaps, kNumSquares>, 7>, 2> leaps;  // by player, Piece, origin
  };
  static const Tables kTables;             // computed below
  static constexpr int kLongestLeap = 20;  // an elephant's, as a difference of squares

  // As the mover sees the squares.
  static Move squares_of(Action action) {
    const int square = action % kNumSquares;
    return {square, moved(square, kOffsets[action / kNumSquares])};
  }

  // Moves a piece, capturing what is there; everything else stays as it was.
  static void move(Position& position, int from, int to) {
    const int piece = position.board[from], captured = position.board[to];
    if (captured != kEmpty) position.squares[captured / kNumSlots][captured % kNumSlots] = kNowhere;
    position.squares[piece / kNumSlots][piece % kNumSlots] = static_cast<std::uint8_t>(to);
    position.board[to] = static_cast<std::uint8_t>(piece);
    position.board[from] = kEmpty;
  }

  // How many squares apart two squares in line are, and in which direction; 0 if not in line.
  struct Line {
    int distance, step;
  };
  static Line line(int from, int to) {
    const int files = kTables.file[to] - kTables.file[from];
    const int ranks = kTables.rank[to] - kTables.rank[from];
    if (files == 0) return ranks > 0 ? Line{ranks, 9} : Line{-ranks, -9};
    if (ranks == 0) return files > 0 ? Line{files, 1} : Line{-files, -1};
    return {0, 0};
  }

  // How many pieces stand between two squares; kNotInLine if the squares are not in line.
  static constexpr int kNotInLine = 9;
  static int num_between(const Position& position, int from, int to) {
    const auto [distance, step] = line(from, to);
    if (!distance) return kNotInLine;
    int count = 0;
    for (int i = 1; i < distance; ++i) count += position.board[from + i * step] != kEmpty;
    return count;
  }

  // How many pieces must stand between a piece and what it captures along a line.
  static constexpr int num_screens(int piece) { return piece == C; }

  // XQ-1: whether a piece on the board could capture an enemy piece on `target`.
  static bool attacks(const Position& position, int player, int slot, int target) {
    const int from = position.squares[player][slot], piece = kPieces[slot];
    if (piece == R || piece == C) return num_between(position, from, target) == num_screens(piece);
    if (std::abs(target - from) > kLongestLeap) return false;
    for (const auto [to, through, plane] : kTables.leaps[player][piece][from]) {
      if (to == target) return position.board[through] == kEmpty;
    }
    return false;
  }

  // The square that a horse on `from` must find empty to capture on `to`; kNowhere if none will do.
  static int leg(int from, int to) {
    const int files = kTables.file[to] - kTables.file[from];
    const int ranks = kTables.rank[to] - kTables.rank[from];
    if (std::abs(files * ranks) != 2) return kNowhere;
    return from + (std::abs(files) == 2 ? files / 2 : ranks / 2 * 9);
  }

  // XQ-2: whether the general of `player` could be captured, also by the facing general.
  static bool is_attacked(const Position& position, int player) {
    const int general = position.squares[player][0], enemy = 1 - player;
    const auto& squares = position.squares[enemy];
    for (const int slot : kLineSlots) {
      if (squares[slot] != kNowhere &&
          num_between(position, squares[slot], general) == num_screens(kPieces[slot])) {
        return true;
      }
    }
    for (const int slot : kHorseSlots) {
      if (squares[slot] == kNowhere) continue;
      const int through = leg(squares[slot], general);
      if (through != kNowhere && position.board[through] == kEmpty) return true;
    }
    return is_attacked_by_soldier(position, player);
  }

  // From in front and both sides, which are on the board from everywhere in the palace.
  static bool is_attacked_by_soldier(const Position& position, int player) {
    const int general = position.squares[player][0];
    for (const int neighbour : {general + (player ? -9 : 9), general - 1, general + 1}) {
      const int piece = position.board[neighbour];
      if (piece / kNumSlots == 1 - player && kPieces[piece % kNumSlots] == P) return true;
    }
    return false;
  }

  // Sets what the position knows of the mover's general.
  static void look_at_general(Position& position) {
    const int mover = position.to_move(), general = position.squares[mover][0];
    const auto& enemy = position.squares[1 - mover];
    position.sensitive = {};
    position.is_check = is_attacked_by_soldier(position, mover);
    for (const int slot : kLineSlots) {
      if (enemy[slot] == kNowhere) continue;
      const auto [distance, step] = line(enemy[slot], general);
      if (!distance) continue;
      const int excess = num_between(position, enemy[slot], general) - num_screens(kPieces[slot]);
      if (excess == 0) position.is_check = true;
      if (std::abs(excess) != 1) continue;
      for (int i = 1; i < distance; ++i) position.sensitive.add(enemy[slot] + i * step);
    }
    for (const int slot : kHorseSlots) {
      if (enemy[slot] == kNowhere) continue;
      const int through = leg(enemy[slot], general);
      if (through == kNowhere) continue;
      if (position.board[through] == kEmpty) position.is_check = true;
      position.sensitive.add(through);
    }
  }

  // Calls visit(origin, plane) for every legal move until it returns false; returns whether it
  // never did.
  template <class Visit>
  bool visit_moves(const Position& position, Visit&& visit) const {
    const int mover = position.to_move();
    const Chain& chain = position.chains[mover];
    const int barred = chain.length == kMaxChain ? chain.checker : kNobody;  // XQ-4
    for (int slot = kNumSlots - 1; slot >= 0; --slot) {  // the general, the slowest, last
      const int from = position.squares[mover][slot];
      if (from == kNowhere) continue;
      const bool always_look =
          position.is_check || slot == 0 || slot == barred || position.sensitive.contains(from);
      const auto visit_if_legal = [&](int to, int plane) {
        if (always_look || position.sensitive.contains(to)) {
          Position next = position;
          move(next, from, to);
          if (is_attacked(next, mover)) return true;
          if (slot == barred && is_attacked(next, 1 - mover)) return true;
        }
        return visit(from, plane);
      };
      if (!visit_targets(position, slot, from, visit_if_legal)) return false;
    }
    return true;
  }

  // The same with visit(target, plane) for the moves of one piece of the mover by XQ-1.
  template <class Visit>
  static bool visit_targets(const Position& position, int slot, int from, Visit&& visit) {
    const int mover = position.to_move(), piece = kPieces[slot];
    const auto is_free = [&](int to) { return position.board[to] == kEmpty; };
    const auto is_enemy = [&](int to) { return position.board[to] / kNumSlots == 1 - mover; };
    if (piece != R && piece != C) {
      for (const auto [to, through, plane] : kTables.leaps[mover][piece][from]) {
        if (!is_free(through) || !(is_free(to) || is_enemy(to))) continue;
        if (!visit(to, plane)) return false;
      }
      return true;
    }
    const int own_from = turned(from, mover);
    const int file = kTables.file[own_from], rank = kTables.rank[own_from];
    struct Direction {
      int plane, step, length;
    };
    for (const auto [first_plane, own_step, length] :
         {Direction{0, 9, 9 - rank}, {9, -9, rank}, {18, 1, 8 - file}, {26, -1, file}}) {
      const int step = mover ? -own_step : own_step, end = first_plane + length;
      int to = from + step, plane = first_plane;
      for (; plane != end && is_free(to); ++plane, to += step) {
        if (!visit(to, plane)) return false;
      }
      if (piece == C && plane != end) {
        do ++plane, to += step;
        while (plane != end && is_free(to));
      }
      if (plane != end && is_enemy(to) && !visit(to, plane)) return false;
    }
    return true;
  }

  // XQ-4 after a turn of `mover` with the piece in `slot`.
  static void update_chains(Position& position, int mover, int slot, int captured) {
    Chain& own = position.chains[mover];
    Chain& enemy = position.chains[1 - mover];
    if (!position.is_check) {
      own = {};
    } else if (own.length && own.checker == slot) {
      ++own.length;
      if (own.answerer == captured) own.answerer = kNobody;
    } else {
      own = {1, static_cast<std::uint8_t>(slot), kNobody};
    }
    if (!enemy.length) return;
    if (enemy.checker == captured) {
      enemy = {};
    } else if (enemy.answerer != slot) {
      enemy.length = 1;  // the check just answered begins a new chain
      enemy.answerer = static_cast<std::uint8_t>(slot);
    }
  }

  // XQ-7: whether a piece that can mate is left.
  static bool can_win(const Position& position) {
    for (int slot = 5; slot < kNumSlots; ++slot) {
      if (position.is_on_board(0, slot) || position.is_on_board(1, slot)) return true;
    }
    return false;
  }

  // XQ-5 at the third occurrence: the more serious class of turns since the first one loses.
  static Outcome judge_repetition(const Position& position, const History<Position>& history) {
    enum Class { kIdle, kChase, kCheck };
    const auto& now = history.turn_starts.back();
    const auto first = std::find_if(history.turn_starts.begin(), history.turn_starts.end(),
                                    [&](const TurnStart& start) { return start.key == now.key; });
    const auto steps = history.steps.subspan(first->num_steps);
    const auto after = [&](std::size_t i) -> const Position& {
      return i + 1 < steps.size() ? steps[i + 1].before : position;
    };
    const auto class_of = [&](int player) {
      bool always_checks = true, never_checks = true;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].before.to_move() != player) continue;
        (after(i).is_check ? never_checks : always_checks) = false;
      }
      if (always_checks) return kCheck;
      if (!never_checks) return kIdle;
      unsigned victims = ~0u;  // the enemy's slots that every turn has chased
      for (std::size_t i = 0; i < steps.size() && victims; ++i) {
        if (steps[i].before.to_move() == player) victims &= chased(steps[i].before, after(i));
      }
      return victims ? kChase : kIdle;
    };
    const std::array<Class, 2> classes = {class_of(0), class_of(1)};
    if (classes[0] == classes[1]) return draw(Termination::kRepetition);
    const int winner = classes[0] < classes[1] ? 0 : 1;
    return win(winner, classes[1 - winner] == kCheck ? Termination::kPerpetualCheck
                                                     : Termination::kPerpetualChase);
  }

  // XQ-6: the enemy's slots, as bits, that the turn from `before` to `after` has chased.
  static unsigned chased(const Position& before, const Position& after) {
    const int chaser = before.to_move();
    unsigned victims = 0;
    for (int victim = 1; victim < kNumSlots; ++victim) {
      if (!after.is_on_board(1 - chaser, victim)) continue;
      const int square = after.squares[1 - chaser][victim];
      if (kPieces[victim] == P && turned(square, 1 - chaser) < 45) continue;  // on its own half
      for (int slot = 1; kPieces[slot] != P; ++slot) {
        if (after.is_on_board(chaser, slot) && attacks(after, chaser, slot, square) &&
            !attacks(before, chaser, slot, square) && is_chase(after, chaser, slot, victim)) {
          victims |= 1u << victim;
        }
      }
    }
    return victims;
  }

  // The rest of XQ-6: whether the new attack of `slot` on the enemy's `victim` is a chase.
  static bool is_chase(const Position& position, int chaser, int slot, int victim) {
    const int enemy = 1 - chaser, piece = kPieces[slot], victim_piece = kPieces[victim];
    const int from = position.squares[chaser][slot], square = position.squares[enemy][victim];
    Position next = position;
    move(next, from, square);
    if (is_attacked(next, chaser)) return false;
    if (victim_piece == R && (piece == N || piece == C)) return true;  // (i)
    const bool is_major = victim_piece == R || victim_piece == N || victim_piece == C;
    if (is_major && (piece == A || piece == B)) return true;  // (ii)
    if (piece == victim_piece && can_capture(position, enemy, victim, from)) return false;
    for (int other = 0; other < kNumSlots; ++other) {  // (iii)
      if (next.is_on_board(enemy, other) && can_capture(next, enemy, other, square)) return false;
    }
    return true;
  }

  // By XQ-1 and XQ-2.
  static bool can_capture(const Position& position, int player, int slot, int target) {
    if (!attacks(position, player, slot, target)) return false;
    Position next = position;
    move(next, position.squares[player][slot], target);
    return !is_attacked(next, player);
  }

  static void read_board(Position& position, std::string_view text) {
    const std::string letters = board_from_fen(text, 10, 9, std::string(kLetters) + "EH");
    std::array<std::array<int, 7>, 2> counts = {};
    for (int square = 0; square < kNumSquares; ++square) {
      const char letter = letters[square];
      if (letter == '.') continue;
      const int player = letter >= 'a';
      const char capital = static_cast<char>(letter - (player ? 'a' - 'A' : 0));
      const int piece = capital == 'E'   ? B
                        : capital == 'H' ? N
                                         : static_cast<int>(kLetters.find(capital));
      const auto first_slot = std::find(kPieces.begin(), kPieces.end(), piece) - kPieces.begin();
      const auto in_set = std::count(kPieces.begin(), kPieces.end(), piece);
      const int slot = static_cast<int>(first_slot) + counts[player][piece]++;
      if (counts[player][piece] > in_set) {
        throw FenError("board", "more than " + std::to_string(in_set) + " '" + letter + "'");
      }
      if (!is_reachable(piece, turned(square, player))) {
        throw FenError(
            "board", std::string("'") + letter + "' can never stand on " + square_name(square, 9));
      }
      position.squares[player][slot] = static_cast<std::uint8_t>(square);
      position.board[square] = static_cast<std::uint8_t>(kNumSlots * player + slot);
    }
    for (int player = 0; player < 2; ++player) {
      if (!counts[player][K]) {
        throw FenError("board", std::string("no general '") + (player ? "k'" : "K'"));
      }
    }
  }
};

inline constexpr Xiangqi::Tables Xiangqi::kTables = [] {
  Tables tables = {};
  for (int square = 0; square < kNumSquares; ++square) {
    tables.file[square] = static_cast<std::uint8_t>(square % 9);
    tables.rank[square] = static_cast<std::uint8_t>(square / 9);
  }
  const auto add_leap = [&](int player, int piece, int from, int plane, Offset through) {
    const int to = moved(from, kOffsets[plane]);
    if (to < 0 || !is_reachable(piece, from) || !is_reachable(piece, to)) return;
    // Worked out as the owner sees the squares, kept as player 0 does.
    Leaps& leaps = tables.leaps[player][piece][turned(from, player)];
    const bool is_free = through.file == 0 && through.rank == 0;
    leaps.leaps[leaps.size++] = {
        static_cast<std::uint8_t>(turned(to, player)),
        is_free ? kNowhere : static_cast<std::uint8_t>(turned(moved(from, through), player)),
        static_cast<std::uint8_t>(plane)};
  };
  for (int plane = 0; plane < 50; ++plane) {
    const Offset offset = kOffsets[plane];
    const bool is_step = plane == 0 || plane == 9 || plane == 18 || plane == 26;
    for (int player = 0; player < 2; ++player) {
      for (int from = 0; from < kNumSquares; ++from) {
        const bool is_across = from >= 45;
        if (is_step) add_leap(player, K, from, plane, {0, 0});
        if (plane == 0 || (is_step && plane != 9 && is_across)) {
          add_leap(player, P, from, plane, {0, 0});
        }
        const Offset half = {offset.file / 2, offset.rank / 2};  // of a horse: its leg
        if (34 <= plane && plane < 42) add_leap(player, N, from, plane, half);
        if (42 <= plane && plane < 46) add_leap(player, B, from, plane, half);
        if (46 <= plane) add_leap(player, A, from, plane, {0, 0});
      }
    }
  }
  return tables;
}();

static_assert(Game<Xiangqi>);

}  // namespace deskovky
