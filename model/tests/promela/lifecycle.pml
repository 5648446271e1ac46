/* The lifecycle of reservations, told once more in Promela, from the specification and not from the model.
 *
 * One host that may be open or closed, a lease that lasts, N reservations for two runs, MAX slots, a TTL of
 * one tick. Its states, counted by spin, are as many as those of the explorer's facet `lifecycle`.
 *
 * A state is kept as small as the explorer's: what a row that holds no slot was for is forgotten, and the
 * order of two rows is kept only where they claim the same run.
 */
#ifndef N
#define N 2
#endif
#ifndef MAX
#define MAX 2
#endif

#define UNUSED    0
#define RESERVED  1
#define COMMITTED 2
#define ORPHAN    3
#define RELEASED  4
#define EXPIRED   5

#define UNHEARD   0
#define RUNNING   1
#define COMPLETED 2
#define PARKED    3
#define ABANDONED 4

bool open = true;
byte row[N];        /* what the store says */
byte job[N];        /* for which of two runs */
bool due[N];        /* its TTL has passed */
byte place[N];      /* how many rows of the same claim were there before it */
byte word[N];       /* what the project's ledger says */
bool quiet[N];      /* nothing of the run is alive, and that is proven */

/* Not part of the state: set before they are used, within one step. */
hidden byte row0[N];
hidden byte job0[N];
hidden byte due0[N];
hidden byte place0[N];
hidden byte a;
hidden byte b;
hidden byte c;
hidden byte taken;
hidden byte refused;
hidden byte held;

#define claims(x)   (row[x] == RESERVED && word[x] != ABANDONED)
#define admitted(x) (row[x] == COMMITTED || row[x] == ORPHAN)
#define proven(x)   (word[x] == RUNNING || word[x] == COMPLETED || word[x] == PARKED)

/* Whether another row that is committed or orphan-suspect has the run of x. */
inline look_for_another(x) {
  taken = false;
  b = 0;
  do
  :: b < N -> taken = taken || (b != x && admitted(b) && job[b] == job[x]); b++
  :: else -> break
  od
}

/* Places without gaps: place0 holds what they were; who has no claim stands nowhere. */
inline close_ranks() {
  a = 0;
  do
  :: a < N ->
     place[a] = 0;
     if
     :: claims(a) ->
        b = 0;
        do
        :: b < N ->
           if
           :: claims(b) && b != a && job[b] == job[a] && place0[b] < place0[a] -> place[a]++
           :: else
           fi;
           b++
        :: else -> break
        od
     :: else
     fi;
     a++
  :: else -> break
  od
}

inline remember() {
  a = 0;
  do
  :: a < N -> row0[a] = row[a]; job0[a] = job[a]; due0[a] = due[a]; place0[a] = place[a]; a++
  :: else -> break
  od
}

inline forget_claim(x) { job[x] = 0; due[x] = false }

/* Every due row, those of one run in the order of their places. Arbitration records ABANDON where the
 * project has not said anything: in its own ledger, so that it stays whatever becomes of the call. */
inline sweep() {
  remember();
  c = 0;
  do
  :: c < N ->
     a = 0;
     do
     :: a < N ->
        if
        :: row[a] == RESERVED && due[a] && place0[a] == c ->
           if
           :: word[a] == UNHEARD || word[a] == ABANDONED ->
              word[a] = ABANDONED; row[a] = EXPIRED; forget_claim(a)
           :: else ->
              look_for_another(a);
              if
              :: !taken -> row[a] = COMMITTED; due[a] = false
              :: else
              fi
           fi
        :: else
        fi;
        a++
     :: else -> break
     od;
     c++
  :: else -> break
  od
}

/* A call that was refused leaves the rows as they were. */
inline conclude() {
  if
  :: refused ->
     a = 0;
     do
     :: a < N -> row[a] = row0[a]; job[a] = job0[a]; due[a] = due0[a]; a++
     :: else -> break
     od
  :: else
  fi;
  close_ranks()
}

inline count_held() {
  held = 0;
  a = 0;
  do
  :: a < N -> held = held + (row[a] == RESERVED || admitted(a)); a++
  :: else -> break
  od
}

inline reserve(x, r) {
  sweep();
  count_held();
  if
  :: row[x] != UNUSED -> refused = !(row[x] == RESERVED && job[x] == r)
  :: row[x] == UNUSED && held >= MAX -> refused = true
  :: else -> refused = false; row[x] = RESERVED; job[x] = r; due[x] = false; place0[x] = N
  fi;
  conclude()
}

inline commit(x) {
  sweep();
  refused = false;
  look_for_another(x);
  if
  :: row[x] == COMMITTED
  :: row[x] == RESERVED && !taken && proven(x) && !due[x] -> row[x] = COMMITTED
  :: else -> refused = true
  fi;
  conclude()
}

inline renew(x) {
  sweep();
  refused = !(row[x] == RESERVED && !due[x]);
  conclude()
}

inline renew_without_ttl(x) {
  sweep();
  refused = !admitted(x);
  conclude()
}

inline mark_orphan(x) {
  sweep();
  refused = !admitted(x);
  if
  :: row[x] == COMMITTED -> row[x] = ORPHAN
  :: else
  fi;
  conclude()
}

inline release(x) {
  sweep();
  refused = !(row[x] == RELEASED || (admitted(x) && quiet[x]));
  if
  :: !refused -> row[x] = RELEASED; forget_claim(x)
  :: else
  fi;
  conclude()
}

inline dispatch(x) {
  sweep();
  refused = (row[x] != COMMITTED);
  conclude()
}

/* Snapshots, reads and openings sweep, and are never refused here. */
inline only_sweep() {
  sweep();
  refused = false;
  conclude()
}

inline tick() {
  a = 0;
  do
  :: a < N -> due[a] = (row[a] == RESERVED); a++
  :: else -> break
  od
}

inline abandon(x) { remember(); word[x] = ABANDONED; close_ranks() }

active proctype world() {
  byte x;
  do
  :: d_step { open -> open = false }
  :: d_step { only_sweep(); open = true }
  :: d_step { open -> only_sweep(); x = 0 }
  :: d_step { tick(); x = 0 }
  :: atomic {
       do
       :: x < N - 1 -> x++
       :: break
       od;
       if
       :: d_step { open -> reserve(x, 0); x = 0 }
       :: d_step { open -> reserve(x, 1); x = 0 }
       :: d_step { open -> commit(x); x = 0 }
       :: d_step { open -> renew(x); x = 0 }
       :: d_step { open -> renew_without_ttl(x); x = 0 }
       :: d_step { open -> mark_orphan(x); x = 0 }
       :: d_step { open -> release(x); x = 0 }
       :: d_step { open -> dispatch(x); x = 0 }
       :: d_step { row[x] != UNUSED && word[x] == UNHEARD -> word[x] = RUNNING; x = 0 }
       :: d_step { row[x] != UNUSED && word[x] == UNHEARD -> abandon(x); x = 0 }
       :: d_step { word[x] == RUNNING -> word[x] = COMPLETED; x = 0 }
       :: d_step { word[x] == RUNNING -> word[x] = PARKED; x = 0 }
       :: d_step { (word[x] == COMPLETED || word[x] == PARKED) && !quiet[x] -> quiet[x] = true; x = 0 }
       :: else -> x = 0
       fi
     }
  od
}
