// A recording as the views see it: the head, the threads, and all other parts once they are asked for (docs/page.md).
import type {Columns} from './columns';
import type {Head} from './head';

export interface Threads {
  readonly count: number;
  readonly name: readonly string[];
  readonly pool: readonly string[]; // empty: none
  readonly kind: Uint8Array; // index into THREAD_KINDS
  readonly osId: Float64Array;
  readonly javaId: Float64Array;
  readonly virtual: Uint8Array;
  readonly merged: Float64Array;
  readonly columns: Columns; // cpu, steal, ... : those that were recorded
}

export const THREAD_KINDS = ['app', 'gc', 'jit', 'vm', 'tarsier', 'other', 'jfr'] as const;

export interface Recording {
  readonly head: Head;
  readonly threads: Threads;
  // From the server, or out of this page. Null if the recording has none of that name. Asked for once, then kept.
  part(name: string): Promise<Columns | null>;
}
