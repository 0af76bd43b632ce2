/* SPDX-License-Identifier: Apache-2.0

   A weakly ordered memory for models in Promela, with the reorderings that AArch64 permits:

   - A store enters its thread's store buffer, and the process `hardware` commits the entries in any
     order, except that a location's own stores keep their order. A release store enters the buffer only
     when it is empty.
   - A load returns its thread's buffered store, the memory's value, or a value that the thread loaded
     early: whenever a location changes, each other thread may keep the previous value, until an acquire
     operation.
   - A read-modify-write loads and stores in two steps, between which other locations may change.
   - A seq_cst load waits until the thread's seq_cst stores are committed, and returns no value that was
     loaded before them.

   Two reorderings of AArch64 are not modelled: a load that takes effect after a later store of its
   thread, and, after an acquire load that returned an early value, an early value of another location.

   Each model defines THREADS, LOCATIONS and COMMITS, a list of COMMIT(thread, location) for the stores
   that it has. */

#define RELAXED 0
#define ACQUIRE 1
#define RELEASE 2
#define ACQ_REL 3
#define SEQ_CST 7

#define AT(t, l) ((t) * LOCATIONS + (l))

short memory[LOCATIONS];
bit held[LOCATIONS]; /* a read-modify-write is between its two steps */

bit buffered[THREADS * LOCATIONS];
short buffered_value[THREADS * LOCATIONS];
bit buffered_sc[THREADS * LOCATIONS]; /* the buffered store is seq_cst */
byte buffered_count[THREADS], buffered_sc_count[THREADS];

bit early[THREADS * LOCATIONS];
short early_value[THREADS * LOCATIONS];
bit early_sc[THREADS * LOCATIONS]; /* loaded while no seq_cst store was buffered */

/* Writes to memory. Each other thread may have loaded the previous value early. */
inline write_memory(t, l, v) {
  other = 0;
  do
  :: other < THREADS ->
     if
     :: other != t && memory[l] != v ->
        if
        :: early[AT(other, l)] = 1;
           early_sc[AT(other, l)] = buffered_sc_count[other] == 0;
           early_value[AT(other, l)] = memory[l]
        :: true
        fi
     :: else
     fi;
     other++
  :: else -> break
  od;
  other = 0;
  memory[l] = v
}

#define COMMIT(t, l)                                                  \
  :: atomic {                                                         \
    buffered[AT(t, l)] && !held[l] ->                                 \
    write_memory(t, l, buffered_value[AT(t, l)]);                     \
    buffered_count[t]--;                                              \
    buffered_sc_count[t] = buffered_sc_count[t] - buffered_sc[AT(t, l)]; \
    buffered[AT(t, l)] = 0;                                           \
    buffered_sc[AT(t, l)] = 0;                                        \
    buffered_value[AT(t, l)] = 0                                      \
  }

active proctype hardware() {
  byte other;
end:
  do
  COMMITS
  od
}

/* Discards the values that a thread has loaded early. */
inline discard_early(t) {
  index = 0;
  do
  :: index < LOCATIONS ->
     early[AT(t, index)] = 0;
     early_value[AT(t, index)] = 0;
     early_sc[AT(t, index)] = 0;
     index++
  :: else -> break
  od;
  index = 0
}

inline discard_early_sc(t) {
  index = 0;
  do
  :: index < LOCATIONS -> early_sc[AT(t, index)] = 0; index++
  :: else -> break
  od;
  index = 0
}

inline acquire_if(t, order) {
  if
  :: (order) & ACQUIRE -> discard_early(t)
  :: else
  fi
}

inline load(t, l, order, out) {
  atomic {
    (order) != SEQ_CST || buffered_sc_count[t] == 0;
    if
    :: buffered[AT(t, l)] -> out = buffered_value[AT(t, l)]
    :: !buffered[AT(t, l)] ->
       out = memory[l];
       early[AT(t, l)] = 0;
       early_value[AT(t, l)] = 0
    :: !buffered[AT(t, l)] && early[AT(t, l)] && ((order) != SEQ_CST || early_sc[AT(t, l)]) ->
       out = early_value[AT(t, l)]
    fi;
    acquire_if(t, order)
  }
}

inline store(t, l, v, order) {
  atomic {
    !buffered[AT(t, l)] && (!((order) & RELEASE) || buffered_count[t] == 0);
    buffered[AT(t, l)] = 1;
    buffered_value[AT(t, l)] = v;
    buffered_count[t]++;
    early[AT(t, l)] = 0;
    early_value[AT(t, l)] = 0;
    if
    :: (order) == SEQ_CST ->
       buffered_sc[AT(t, l)] = 1;
       buffered_sc_count[t]++;
       discard_early_sc(t)
    :: else
    fi
  }
}

/* The load of a read-modify-write, which keeps the location from others until finish_change. */
#define CAN_CHANGE(t, l, order) \
  (!held[l] && !buffered[AT(t, l)] && (!((order) & RELEASE) || buffered_count[t] == 0))

inline begin_change(t, l, order, out) {
  held[l] = 1;
  out = memory[l];
  early[AT(t, l)] = 0;
  early_value[AT(t, l)] = 0;
  acquire_if(t, order)
}

inline finish_change(t, l, v) {
  write_memory(t, l, v);
  held[l] = 0
}

/* A read-modify-write that stores `v`, an expression of `out`, which has the previous value. */
inline change(t, l, v, order, out) {
  atomic {
    CAN_CHANGE(t, l, order);
    begin_change(t, l, order, out);
    buffered_sc_count[t] = buffered_sc_count[t] + ((order) == SEQ_CST)
  };
  atomic {
    finish_change(t, l, v);
    buffered_sc_count[t] = buffered_sc_count[t] - ((order) == SEQ_CST)
  }
}

/* Stores `v` if the location has the value of `known`, and loads it into `known` if not. */
inline compare_exchange(t, l, known, v, order, failure_order, done) {
  atomic {
    CAN_CHANGE(t, l, order);
    if
    :: memory[l] == known ->
       done = 1;
       begin_change(t, l, order, known)
    :: memory[l] != known ->
       done = 0;
       known = memory[l];
       early[AT(t, l)] = 0;
       early_value[AT(t, l)] = 0;
       acquire_if(t, failure_order)
    fi
  };
  atomic {
    if
    :: done -> finish_change(t, l, v)
    :: else
    fi
  }
}
