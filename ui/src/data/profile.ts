// A recording as the page holds it: flat columns, callers before their callees.

export interface Thread {
  readonly name: number;
  readonly kind: number;
  readonly osId: number;
  readonly javaId: number;
  readonly virtual: boolean;
  readonly merged: number; // virtual threads of the same name are one entry
  readonly first: number; // its nodes are [first, end)
  readonly end: number;
}

export interface SourceNodes {
  readonly count: number;
  readonly parent: Int32Array; // -1: called by nobody
  readonly name: Int32Array;
  readonly type: Uint8Array;
  readonly line: Int32Array; // 0: unknown
  readonly self: Float64Array; // ns; of a comparison the mean of what both recordings have
  readonly samples: Float64Array;
  readonly imprecise: Float64Array;
  readonly before: Float64Array | null; // of a comparison: what the earlier recording has; null: there is none
}

export interface Profile {
  readonly names: readonly string[]; // visible text
  readonly threads: readonly Thread[];
  readonly nodes: SourceNodes;
  readonly allName: number; // the name of the root
  readonly restName: number; // the name of what stands for frames too small to keep
}
