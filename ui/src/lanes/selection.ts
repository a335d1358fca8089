// What is selected on the lanes, as the address has it: "b12" a contention, "w12" a wait, "r3.70" a thread in a moment.
import type {LaneData} from './lane_data';
import type {Mark} from './draw_lanes';
import {WokenBy} from './waits';

export type Selection = {readonly kind: 'blocked' | 'waiting'; readonly row: number}
  | {readonly kind: 'running'; readonly thread: number; readonly moment: number};

export function parseSelection(text: string | undefined, data: LaneData): Selection | null {
  const found = /^([bwr])(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text ?? '');
  if (found === null) return null;
  const number = Number(found[2]);
  if (found[1] === 'b') return data.contentions !== null && number < data.contentions.count ? {kind: 'blocked', row: number} : null;
  if (found[1] === 'w') return data.waits !== null && number < data.waits.count ? {kind: 'waiting', row: number} : null;
  return found[3] !== undefined && number < data.threads.count ? {kind: 'running', thread: number, moment: Number(found[3])} : null;
}

export const formatSelection = (selection: Selection): string =>
  selection.kind === 'running' ? `r${selection.thread}.${selection.moment}` : `${selection.kind[0]!}${selection.row}`;

export interface Place {
  readonly thread: number;
  readonly begin: number;
  readonly end: number;
}

export function placeOf(data: LaneData, selection: Selection, momentNs: number): Place {
  if (selection.kind === 'running') {
    return {thread: selection.thread, begin: selection.moment * momentNs, end: (selection.moment + 1) * momentNs};
  }
  const {contentions, waits} = data;
  const {row} = selection;
  return selection.kind === 'blocked'
    ? {thread: contentions!.thread[row]!, begin: contentions!.begin[row]!, end: contentions!.begin[row]! + contentions!.span[row]!}
    : {thread: waits!.thread[row]!, begin: waits!.begin[row]!, end: waits!.begin[row]! + waits!.span[row]!};
}

// A time in which somebody else held what the selected one waited for; or the one who woke it up.
export interface Cause {
  readonly thread: number; // -1: nobody that is known
  readonly piece: number; // of contentions
  readonly begin: number;
  readonly end: number;
}

export function causesOf(data: LaneData, selection: Selection): Cause[] {
  const {contentions, waits} = data;
  if (selection.kind === 'blocked') {
    const {row} = selection;
    let at = contentions!.begin[row]!;
    const causes: Cause[] = [];
    for (let piece = contentions!.firstPiece[row]!; piece < contentions!.firstPiece[row + 1]!; piece++) {
      const end = at + contentions!.pieceLength[piece]!;
      causes.push({thread: contentions!.owners.thread[contentions!.owners.id[piece]!]! - 1, piece, begin: at, end});
      at = end;
    }
    return causes;
  }
  if (selection.kind === 'waiting' && waits!.waker[selection.row]! > 0 && waits!.wokenBy[selection.row] !== WokenBy.Unknown) {
    const end = waits!.begin[selection.row]! + waits!.length[selection.row]!;
    return [{thread: waits!.waker[selection.row]! - 1, piece: -1, begin: end, end}];
  }
  return [];
}

// The one to blame first: who held it longest.
export function mainCause(causes: readonly Cause[]): number {
  let best = -1;
  causes.forEach((cause, i) => {
    if (cause.thread < 0) return;
    if (best < 0 || cause.end - cause.begin > causes[best]!.end - causes[best]!.begin) best = i;
  });
  return best < 0 && causes.length > 0 ? 0 : best;
}

export function marksOf(data: LaneData, selection: Selection | null, cause: Cause | null, momentNs: number): Mark[] {
  if (selection === null) return [];
  const marks: Mark[] = [{...placeOf(data, selection, momentNs), role: 'selected'}];
  if (cause !== null && cause.thread >= 0) {
    marks.push({thread: cause.thread, begin: cause.begin, end: cause.end, role: selection.kind === 'waiting' ? 'waker' : 'owner'});
  }
  return marks;
}
