// What engines say of themselves, put so that it can be checked: taken = written + dropped.
import type {Engine, Head, ProfileHead} from '../data/head';

export interface Piece {
  readonly label: string;
  readonly amount: number;
  readonly isLost: boolean;
}

export interface Account {
  readonly pieces: readonly Piece[]; // what became of all that was taken
  readonly dropped: number;
  readonly unexplained: number; // taken - written - dropped: must be 0
}

export function accountOf(engine: Engine): Account {
  const dropped = Object.entries(engine.dropped).filter(([, amount]) => amount > 0).sort(([, a], [, b]) => b - a);
  const sum = dropped.reduce((all, [, amount]) => all + amount, 0);
  const unexplained = engine.taken - engine.written - sum;
  return {
    dropped: sum, unexplained,
    pieces: [{label: 'written', amount: engine.written, isLost: false},
             ...dropped.map(([label, amount]) => ({label, amount, isLost: true})),
             ...(unexplained > 0 ? [{label: 'not accounted for', amount: unexplained, isLost: true}] : [])],
  };
}

export interface Stacks {
  readonly samples: number;
  readonly complete: number;
  readonly incomplete: number;
  readonly failed: readonly (readonly [string, number])[];
  readonly imprecise: number;
  readonly mechanisms: readonly (readonly [string, number])[];
  readonly edges: number;
  readonly edgesChecked: number;
  readonly badEdges: number;
  readonly native: Readonly<Record<string, number>> | null;
  readonly latency: Readonly<Record<string, number>> | null; // ns
}

const numbersIn = (value: unknown): [string, number][] => (typeof value !== 'object' || value === null ? []
  : Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
const sorted = (value: unknown): [string, number][] => numbersIn(value).filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a);
const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

// Null: nothing is told.
export function stacksOf({quality}: ProfileHead): Stacks | null {
  if (quality === undefined) return null;
  const record = (value: unknown): Readonly<Record<string, number>> | null =>
    (typeof value === 'object' && value !== null ? Object.fromEntries(numbersIn(value)) : null);
  return {
    samples: numberOf(quality['samples']), complete: numberOf(quality['complete']), incomplete: numberOf(quality['incomplete']),
    failed: sorted(quality['failed']), imprecise: numberOf(quality['imprecise']), mechanisms: sorted(quality['by_mechanism']),
    edges: numberOf(quality['edges']), edgesChecked: numberOf(quality['edges_checked']), badEdges: numberOf(quality['bad_edges']),
    native: record(quality['native']), latency: record(quality['latency']),
  };
}

export interface Cost {
  readonly app: number; // ns
  readonly background: number;
  readonly ofTime: number; // share of one CPU over the recording's time
  readonly ofMachine: number; // share of all CPUs
  readonly ofCpu: number; // share of the program's own CPU time; 0: not known
}

// `cpu`: the CPU time of the program's threads, without ours.
export function costOf(head: Head, cpu: number): Cost {
  const {app_threads_ns: app, background_ns: background} = head.overhead;
  const all = app + background;
  return {
    app, background, ofTime: head.duration_ns > 0 ? all / head.duration_ns : 0,
    ofMachine: head.duration_ns > 0 && head.cpus > 0 ? all / (head.duration_ns * head.cpus) : 0,
    ofCpu: cpu > 0 ? all / cpu : 0,
  };
}
