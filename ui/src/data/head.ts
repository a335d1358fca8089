// What was recorded and how: the part `head` (docs/page.md), written by src/export.
import {visibleText} from './visible_text';

export type Counts = Readonly<Record<string, number>>;

export interface Engine {
  readonly name: string;
  readonly mechanism: string;
  readonly why: string;
  readonly interval_ns: number;
  readonly interval_bytes: number;
  readonly taken: number;
  readonly written: number;
  readonly failed: number;
  readonly dropped: Counts;
  readonly counters?: Counts;
}

export interface Against {
  readonly file: string;
  readonly jvm: string;
  readonly duration_ns: number;
  readonly samples: number;
  readonly per: string; // second, run or share
}

export interface ProfileHead {
  readonly name: string; // cpu, wall, alloc, waits, locks, owners
  readonly unit: string; // of weights: ns or bytes
  readonly what: string; // "CPU time"
  readonly events?: string; // what is counted: samples, waits, contentions
  readonly census?: boolean; // all of them are there, not samples of them
  readonly samples: {
    readonly count: number; readonly failed: number; readonly imprecise: number; readonly truncated: number;
  };
  readonly unsampled_ns: Counts;
  readonly quality?: Readonly<Record<string, unknown>>; // as in report --json
}

export const eventsOf = ({events}: ProfileHead): string => events ?? 'samples';

const MUCH = 0.005; // of what was taken

// Nothing about its shares is left to chance: this is said where others have a confidence interval. Else empty.
export function exactText(profile: ProfileHead, engines: readonly Engine[]): string {
  if (profile.census !== true) return '';
  const engine = engines.find(({name}) => name === (profile.name === 'waits' ? 'waits' : 'lock'));
  const lost = engine === undefined || engine.taken === 0 ? 0 : (engine.taken - engine.written) / engine.taken;
  return lost < MUCH ? `exact: ${eventsOf(profile)} are recorded one by one, not sampled`
    : `not sampled: ${eventsOf(profile)} are recorded one by one, but ${(100 * lost).toFixed(1)}\u202f% of what the engine took was dropped`;
}

export interface LocksHead {
  readonly contentions: number;
  readonly kept: number;
  readonly total_ns: number;
  readonly kept_ns: number;
  readonly owners: boolean;
  readonly text: string;
}

export interface WaitsHead {
  readonly waits: number;
  readonly kept: number;
  readonly total_ns: number;
  readonly kept_ns: number;
  readonly wakers: boolean;
}

export interface Head {
  readonly title: string;
  readonly file: string;
  readonly jvm: string;
  readonly producer: string;
  readonly pid: number;
  readonly cpus: number;
  readonly attached: boolean;
  readonly start_ms: number;
  readonly duration_ns: number;
  readonly moment_ns: number;
  readonly moments: number;
  readonly verdict: readonly string[];
  readonly problems: readonly string[];
  readonly damaged: boolean;
  readonly engines: readonly Engine[];
  readonly overhead: {readonly app_threads_ns: number; readonly background_ns: number};
  readonly profiles: readonly ProfileHead[];
  readonly default_profile: string;
  readonly locks?: LocksHead;
  readonly waits?: WaitsHead;
  readonly machine?: {readonly stolen_ns: number; readonly source: string};
  readonly parts: readonly string[];
  readonly against?: Against; // of a comparison
  readonly complete: number; // the part of the file that has been read: 1 if all of it
}

// What a head that lacks something means: nothing was recorded of it.
const EMPTY: Head = {
  title: '', file: '', jvm: '', producer: '', pid: 0, cpus: 0, attached: false, start_ms: 0, duration_ns: 0,
  moment_ns: 0, moments: 0, verdict: [], problems: [], damaged: false, engines: [],
  overhead: {app_threads_ns: 0, background_ns: 0}, profiles: [], default_profile: '', parts: [], complete: 1,
};

export function decodeHead(bytes: Uint8Array): Head {
  const text = new TextDecoder('utf-8').decode(bytes);
  let read: unknown;
  try {
    read = JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? visibleText(value) : value));
  } catch {
    throw new Error('the data of this page is damaged');
  }
  if (typeof read !== 'object' || read === null) throw new Error('the data of this page is damaged');
  return {...EMPTY, ...(read as Partial<Head>)};
}
