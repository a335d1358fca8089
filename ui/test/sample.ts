// Recordings to look at and to test with.
import type {Profile} from '../src/data/profile';
import {filterWeights, NO_FILTER, type Filter} from '../src/model/filter';
import {mergeCalls, type CallTree} from '../src/model/merge';
import {HEAD, type StackSpec} from './encode';

// The tree of calls that is left by a filter; without one of everything.
export const merged = (profile: Profile, filter: Partial<Filter> = {}, byThread = false): CallTree =>
  mergeCalls(profile, filterWeights(profile, {...NO_FILTER, ...filter}), byThread);

// Weights that are easy to add up: the whole is 1,000 ms.
export const SMALL: readonly StackSpec[] = [
  {thread: 'main', stack: ['app.Main.main|interpreted|12', 'app.Orders.load|c2|40', 'app.Json.parse|inlined|77'], ns: 300e6, samples: 300},
  {thread: 'main', stack: ['app.Main.main|interpreted|12', 'app.Orders.load|c2|40', 'app.Json.parse|inlined|77', 'app.Json.parse|inlined|80'], ns: 100e6, samples: 100},
  {thread: 'main', stack: ['app.Main.main|interpreted|12', 'app.Orders.load|c2|41'], ns: 100e6, samples: 100},
  {thread: 'main', stack: ['app.Main.main|interpreted|14', 'app.Report.print|c1|9', 'write|native', 'ksys_write|kernel'], ns: 100e6, samples: 100},
  {thread: 'pool-1-thread-1', stack: ['java.lang.Thread.run|c1|840', 'app.Worker.run|c2|22', 'app.Json.parse|c2|77'], ns: 200e6, samples: 200},
  {thread: 'pool-1-thread-1', stack: ['java.lang.Thread.run|c1|840', 'app.Worker.run|c2|23', 'jlong_disjoint_arraycopy|stub'], ns: 50e6, samples: 50},
  {thread: 'pool-1-thread-2', stack: ['java.lang.Thread.run|c1|840', 'app.Worker.run|c2|25', 'JVM_MonitorNotify|vm'], ns: 40e6, samples: 40},
  {thread: 'pool-1-thread-2', stack: ['[failed: unknown Java frame]|marker'], ns: 10e6, samples: 10},
  {thread: '[not sampled]', stack: ['[GC]|marker'], ns: 80e6, samples: 0},
  {thread: '[not sampled]', stack: ['[JIT]|marker'], ns: 20e6, samples: 0},
];

// SMALL in ten moments: main's parsing in the first four, its printing in the fifth, the pool in the rest.
export const TIMED: readonly StackSpec[] = SMALL.flatMap((spec, i) => {
  if (spec.samples === 0) return [spec]; // not sampled: no times are known
  const [first, end] = i < 3 ? [0, 4] : i === 3 ? [4, 5] : [5, 10];
  return Array.from({length: end - first}, (_, k) => (
    {...spec, ns: spec.ns / (end - first), samples: spec.samples! / (end - first), moment: first + k}));
});

export const SMALL_HEAD = {...HEAD, verdict: [
  'Recorded 30 s of JVM 17.0.15+6-Debian (pid 4242): 28.4 s of CPU time, 0.95 of 8 CPUs.',
  'Hottest method: app.Json.parse with 66.7 % of the sampled CPU time (95 % sure: 66.1 to 67.2 %).',
  'Hottest thread: main with 20.1 s of CPU time (60.0 %).',
  'Threads that are not sampled used 3.0 s (10.0 % of the CPU time): [GC] 2.1 s, [JIT] 0.9 s.',
]};

// A comparison: 1,000 ms before, 1,200 ms after. Both have their own stacks, as the exporter writes them.
export const CHANGED: readonly StackSpec[] = [
  {thread: 'main', stack: ['app.Main.main|c2|1', 'app.Main.same|c2|2'], ns: 400e6, samples: 400},
  {thread: 'main', stack: ['app.Main.main|c2|1', 'app.Main.slower|c2|3'], ns: 600e6, samples: 600},
  {thread: 'main', stack: ['app.Main.main|c2|1', 'app.Main.fresh|c2|4'], ns: 200e6, samples: 200},
  {thread: 'main', stack: ['app.Main.main|c2|9', 'app.Main.same|c1|2'], ns: 0, before: 400e6, samples: 400},
  {thread: 'main', stack: ['app.Main.main|c2|9', 'app.Main.slower|c2|3'], ns: 0, before: 300e6, samples: 300},
  {thread: 'main', stack: ['app.Main.main|c2|9', 'app.Main.gone|c2|5'], ns: 0, before: 300e6, samples: 300},
];

// As recordings of servers look: hundreds of methods, dozens of threads, deep stacks. Always the same: each method has
// a few callees of its own, the first the most likely.
export function serverLike(stacks: number, methodCount = 400): StackSpec[] {
  let state = 1;
  const random = (): number => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) / 0x7fffffff;
  const packages = ['org.example.web', 'org.example.store', 'java.util', 'org.example.json', 'java.lang',
                    'org.example.orders.pricing', 'io.grid.net', 'java.util.concurrent', 'java.nio'];
  const classes = ['Dispatcher', 'HashMap', 'Router', 'PriceTable', 'Parser', 'StringBuilder', 'Connection', 'OrderBook',
                   'FilterChain', 'ByteBuffer', 'ArrayList$Itr', 'Cache', 'Session'];
  const verbs = ['handle', 'invoke', 'apply', 'get', 'put', 'next', 'resolve', 'encode', 'decode', 'hash', 'compareTo',
                 'flush', 'lambda$route$3'];
  const jit = ['c2', 'inlined', 'inlined', 'c2', 'c1', 'interpreted', 'inlined', 'c2'];
  const outside = ['memmove|native', 'futex_wait|kernel', 'tcp_sendmsg|kernel', 'InstanceKlass::find_method|vm',
                   'jshort_disjoint_arraycopy|stub', 'SharedRuntime::resolve_helper|vm', 'deflate|native'];
  const one = (list: readonly string[], i: number): string => list[(i * 7919) % list.length]!;
  const label = (i: number): string =>
    `${one(packages, i)}.${one(classes, i >> 1)}.${one(verbs, i >> 2)}|${one(jit, i)}|${20 + (i % 90)}`;
  const callee = (i: number, choice: number): number => (i * 31 + 17 + choice * 101) % methodCount;
  return Array.from({length: stacks}, () => {
    const stack = ['java.lang.Thread.run|interpreted|840', 'java.util.concurrent.ThreadPoolExecutor.runWorker|c1|1136'];
    let method = Math.floor(random() ** 4 * 6);
    const depth = 4 + Math.floor(random() ** 2 * 30);
    for (let i = 0; i < depth; i++) {
      stack.push(label(method));
      method = callee(method, Math.floor(random() ** 5 * 5));
    }
    if (random() < 0.2) stack.push(one(outside, method));
    const samples = 1 + Math.floor(random() ** 6 * 40);
    return {thread: `http-worker-${Math.floor(random() ** 2 * 24) + 1}`, stack, ns: samples * 1e6, samples};
  });
}
