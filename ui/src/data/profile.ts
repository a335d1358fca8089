// A profile as the page holds it: flat columns, callers before their callees.

export interface ProfileThread {
  readonly row: number; // in the recording's threads
  readonly name: number; // in the profile's names
  readonly first: number; // its nodes are [first, end)
  readonly end: number;
}

export interface SourceNodes {
  readonly count: number;
  readonly parent: Int32Array; // -1: called by nobody
  readonly name: Int32Array;
  readonly type: Uint8Array;
  readonly line: Int32Array; // 0: unknown
  readonly self: Float64Array; // ns or bytes; of a comparison the mean of what both recordings have
  readonly samples: Float64Array;
  readonly imprecise: Float64Array;
  readonly before: Float64Array | null; // of a comparison: what the earlier recording has; null: there is none
}

// What nodes got when: the rows of moment m are [first[m], first[m + 1]).
export interface Moments {
  readonly count: number;
  readonly first: Int32Array;
  readonly node: Int32Array;
  readonly self: Float64Array;
  readonly samples: Float64Array;
}

export interface Profile {
  readonly names: readonly string[]; // visible text: of frames, then of threads
  readonly threads: readonly ProfileThread[];
  readonly nodes: SourceNodes;
  readonly moments: Moments | null; // null: no times are known
  readonly allName: number; // the name of the root
  readonly restName: number; // the name of what stands for frames too small to keep
}
