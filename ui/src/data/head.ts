// What was recorded and how; written by src/export/flame_head.cpp.
import {visibleText} from './visible_text';

export interface Engine {
  readonly name: string;
  readonly mechanism: string;
  readonly why: string;
  readonly interval_ns: number;
  readonly interval_bytes: number;
  readonly taken: number;
  readonly written: number;
  readonly failed: number;
  readonly dropped: Readonly<Record<string, number>>;
}

export interface Against {
  readonly file: string;
  readonly jvm: string;
  readonly duration_ns: number;
  readonly samples: number;
  readonly per: string; // second, run or share
}

export interface Head {
  readonly title: string;
  readonly file: string;
  readonly profile: string; // cpu, wall or alloc
  readonly unit: string; // of weights: ns or bytes
  readonly jvm: string;
  readonly producer: string;
  readonly pid: number;
  readonly cpus: number;
  readonly attached: boolean;
  readonly start_ms: number;
  readonly duration_ns: number;
  readonly engines: readonly Engine[];
  readonly overhead: {readonly app_threads_ns: number; readonly background_ns: number};
  readonly problems: readonly string[];
  readonly damaged: boolean;
  readonly samples: {
    readonly count: number; readonly failed: number; readonly imprecise: number; readonly truncated: number;
  };
  readonly unsampled_ns: Readonly<Record<string, number>>;
  readonly verdict: readonly string[];
  readonly against?: Against; // of a comparison
}

export function decodeHead(bytes: Uint8Array): Head {
  const text = new TextDecoder('utf-8').decode(bytes);
  return JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? visibleText(value) : value)) as Head;
}
