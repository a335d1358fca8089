// What was clicked: a blocked time with those who held the lock, a wait with who ended it, or a moment of work.
import {timeLabel} from '../charts/time';
import type {Profile} from '../data/profile';
import {clipped} from '../data/visible_text';
import {ChainList, insideOf} from '../locks/details';
import {OwnerKind} from '../locks/contentions';
import {count, duration, share} from '../model/format';
import {threadLabel} from '../shell/threads_filter';
import type {LaneData} from './lane_data';
import {causesOf, placeOf, type Selection} from './selection';
import {wakerWords} from './waits';

interface Props {
  readonly data: LaneData;
  readonly profile: Profile | null;
  readonly selection: Selection;
  readonly momentNs: number;
  readonly cause: number; // which of the causes is shown
  readonly onCause: (cause: number) => void; // shows it, and goes to its lane
  readonly onClose: () => void;
}

const MOST_CAUSES = 50;
const OWNER_WORDS: Readonly<Record<number, string>> = {
  [OwnerKind.HandOff]: 'nobody: it had been released, the next owner had not woken up yet',
  [OwnerKind.Unknown]: 'not recorded',
};

export function LaneDetails(props: Props) {
  const {data, selection, momentNs, onClose} = props;
  const {thread, begin, end} = placeOf(data, selection, momentNs);
  const what = selection.kind === 'blocked' ? 'blocked' : selection.kind === 'waiting' ? 'waiting' : 'running';
  return (
    <section class="lock-details lane-details" aria-label="What is selected">
      <div class="details-head">
        <h2><bdi dir="ltr">{threadLabel(data.threads, thread)}</bdi> {what}</h2>
        <span class="number">{selection.kind === 'running' ? `${timeLabel(begin)} to ${timeLabel(end)}` : `${duration(end - begin)} from ${timeLabel(begin, 1e3)} on`}</span>
        <span class="gap" />
        <button type="button" onClick={onClose} aria-label="Close the details">{'\u00d7'}</button>
      </div>
      {selection.kind === 'running' ? <Running {...props} thread={selection.thread} moment={selection.moment} />
        : selection.kind === 'blocked' ? <Blocked {...props} row={selection.row} />
        : <Waiting {...props} row={selection.row} />}
    </section>
  );
}

function Blocked({data, selection, cause, onCause, row}: Props & {row: number}) {
  const contentions = data.contentions!;
  const causes = causesOf(data, selection);
  const shown = causes[cause];
  const {owners} = contentions;
  const who = shown === undefined ? 0 : owners.id[shown.piece]!;
  const lock = contentions.lock[row]! > 0 ? contentions.objects[contentions.lock[row]! - 1]! : 'nothing in particular';
  const length = contentions.length[row]!;
  const words = (i: number): string => {
    const {thread, piece} = causes[i]!;
    return thread >= 0 ? threadLabel(data.threads, thread) : OWNER_WORDS[owners.kind[owners.id[piece]!]!] ?? 'not recorded';
  };
  return (
    <>
      <p class="lane-line">
        by <strong><bdi dir="ltr">{clipped(lock, 200)}</bdi></strong>
        {contentions.more[row]! > 0 && `; ${count(1 + contentions.more[row]!)} short ones, together ${duration(length)}, somewhere in this time`}
        {contentions.afterWait[row] === 1 && '; it had to get the lock back after waiting for a condition'}
      </p>
      <div class="owners" role="group" aria-label="Who held the lock meanwhile, in order of time">
        <span class="muted">Held by</span>
        {causes.slice(0, MOST_CAUSES).map(({begin, end}, i) => (
          <button key={i} type="button" aria-pressed={i === cause} onClick={() => onCause(i)}
            title={`${words(i)}: ${duration(end - begin)} from ${timeLabel(begin, 1e3)} on`}>
            <bdi dir="ltr">{clipped(words(i), 40)}</bdi> <span class="muted">{duration(end - begin)}, {share(end - begin, length)}</span>
          </button>
        ))}
        {causes.length > MOST_CAUSES && <span class="muted">and {count(causes.length - MOST_CAUSES)} more</span>}
      </div>
      <div class="two-chains">
        <div>
          <h3>Blocked</h3>
          <ChainList frames={contentions.chains.frames(contentions.chain[row]!)} inside={insideOf(contentions, contentions.chain[row]!, contentions.method[row]!)}
            missing="The call chain could not be recorded." label="Call chain of the blocked thread, innermost first" />
        </div>
        <div>
          <h3>Held by {shown !== undefined && <span class="muted"><bdi dir="ltr">{clipped(words(cause), 80)}</bdi></span>}</h3>
          {shown !== undefined && (
            <ChainList frames={owners.kind[who] === OwnerKind.Chain ? contentions.chains.frames(owners.chain[who]!) : []}
              inside={insideOf(contentions, owners.chain[who]!, owners.method[who]!)}
              missing={owners.kind[who] === OwnerKind.Thread ? 'The call chain of the owner was not recorded.' : 'There is no owner to show.'}
              label="Call chain of the owner, innermost first" />
          )}
        </div>
      </div>
    </>
  );
}

function Waiting({data, selection, onCause, row}: Props & {row: number}) {
  const waits = data.waits!;
  const nameOf = (thread: number): string => threadLabel(data.threads, thread);
  const causes = causesOf(data, selection);
  const waker = waits.wakerChain[row]!;
  return (
    <>
      <p class="lane-line">
        for: <strong>{clipped(waits.kinds[waits.kind[row]!] ?? 'something', 60)}</strong>
        {waits.ongoing[row] === 1 ? '; not over when the recording ended' : ''}; woken by{' '}
        {causes.length > 0
          ? <button type="button" class="link-button" onClick={() => onCause(0)}><bdi dir="ltr">{clipped(wakerWords(waits, row, nameOf), 80)}</bdi></button>
          : <bdi dir="ltr">{clipped(wakerWords(waits, row, nameOf), 80)}</bdi>}
      </p>
      <div class="two-chains">
        <div>
          <h3>Waiting</h3>
          <ChainList frames={waits.chains.frames(waits.chain[row]!)} inside={0} missing="No Java frame was on its stack."
            label="Call chain of the waiting thread, innermost first" />
        </div>
        <div>
          <h3>Woken up by</h3>
          <ChainList frames={waits.chains.frames(waker)} inside={0} missing="No call chain of the one who ended the wait was recorded."
            label="Call chain of the waker, innermost first" />
        </div>
      </div>
    </>
  );
}

const MOST_STACKS = 3;

function Running({data, profile, thread, moment, momentNs}: Props & {thread: number; moment: number}) {
  const {cpu} = data;
  let ns = 0;
  let samples = 0;
  for (let i = cpu.start[thread]!; i < cpu.start[thread + 1]!; i++) {
    if (cpu.moment[i] !== moment) continue;
    ns = cpu.ns[i]!;
    samples = cpu.samples[i]!;
  }
  const stacks = profile === null ? [] : stacksAt(profile, thread, moment);
  return (
    <>
      <p class="lane-line">
        <strong>{duration(ns)}</strong> of CPU time in this moment of {duration(momentNs)}, {count(samples)} {samples === 1 ? 'sample' : 'samples'}
      </p>
      <div class="two-chains">
        {stacks.slice(0, MOST_STACKS).map(({frames, ns: own}, i) => (
          <div key={i}>
            <h3>{duration(own)}, {share(own, ns)}</h3>
            <ChainList frames={frames} inside={-1} missing="" label={`Call chain ${i + 1}, innermost first`} />
          </div>
        ))}
      </div>
    </>
  );
}

function stacksAt(profile: Profile, thread: number, moment: number): {frames: string[]; ns: number}[] {
  const own = profile.threads.find(({row}) => row === thread);
  const {moments, nodes, names} = profile;
  if (own === undefined || moments === null || moment >= moments.count) return [];
  const found: {node: number; ns: number}[] = [];
  for (let i = moments.first[moment]!; i < moments.first[moment + 1]!; i++) {
    const node = moments.node[i]!;
    if (node >= own.first && node < own.end) found.push({node, ns: moments.self[i]!});
  }
  return found.sort((a, b) => b.ns - a.ns).slice(0, MOST_STACKS).map(({node, ns}) => {
    const frames: string[] = [];
    for (let at = node; at >= 0; at = nodes.parent[at]!) frames.push(names[nodes.name[at]!]!);
    return {frames, ns};
  });
}
