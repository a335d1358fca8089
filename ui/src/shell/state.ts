// What the page shows, as its address has it: every view can be had again by its link.

// A range of time, in moments (docs/page.md): [first, end).
export interface TimeRange {
  readonly first: number;
  readonly end: number;
}

export interface PageState {
  readonly view: string; // overview, flame, tree, methods, callers, ring, locks, threads, quality
  readonly weight: string; // the profile: cpu, wall, alloc, waits, locks, owners
  readonly range: TimeRange | null; // null: all of it
  readonly thread: string; // empty: all; "t12" a row of the threads, "p.." a pool by its name, "g.." a group, "k.." a kind
  readonly query: string;
  readonly isRegex: boolean;
  readonly more: Readonly<Record<string, string>>; // what only one view knows, under names that begin with that view's
}

export type Change = Partial<PageState>;

export interface ViewProps {
  readonly recording: import('../data/recording').Recording;
  readonly state: PageState;
  // `step`: the browser's Back button returns to what was before.
  readonly change: (change: Change, step?: boolean) => void;
  readonly dark: boolean;
}
