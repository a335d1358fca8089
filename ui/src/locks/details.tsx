// The detail pane: the full chain of the one who was blocked beside that of the one who held the lock.
import {timeLabel} from '../charts/time';
import type {Threads} from '../data/recording';
import {clipped} from '../data/visible_text';
import {count, duration, share} from '../model/format';
import {threadLabel} from '../shell/threads_filter';
import {HAND_OFF, NO_CHAIN, SPECIAL_MEANING, UNKNOWN_OWNER} from './aspects';
import type {Cases} from './blame';
import {OwnerKind, type Contentions} from './contentions';

interface Props {
  readonly data: Contentions;
  readonly threads: Threads;
  readonly cases: Cases;
  readonly at: number; // which of them
  readonly onAt: (at: number) => void;
  readonly title: string;
  readonly onShow: (row: number) => void; // on the lanes
}

const MOST_FRAMES = 400;

export function Details({data, threads, cases, at, onAt, title, onShow}: Props) {
  const place = Math.min(Math.max(at, 0), Math.max(cases.cases.length - 1, 0));
  const shown = cases.cases[place];
  if (shown === undefined) return <p class="muted">No contention is selected.</p>;
  const {row, piece} = shown;
  const {owners} = data;
  const who = owners.id[piece]!;
  const kind = owners.kind[who]!;
  const owner = owners.thread[who]!;
  const begin = data.begin[row]!;
  return (
    <section class="lock-details" aria-label="Call chains of the selected contentions">
      <div class="details-head">
        <h2><bdi dir="ltr">{clipped(title, 200)}</bdi></h2>
        <span class="number">
          case {count(place + 1)} of {count(cases.all)}: {duration(shown.ns)}, {share(shown.ns, cases.ns)}, {count(shown.times)}{' '}
          {shown.times === 1 ? 'time' : 'times'}
        </span>
        <span class="actions">
          <button type="button" disabled={place === 0} onClick={() => onAt(place - 1)}>Before</button>
          <button type="button" disabled={place + 1 >= cases.cases.length} onClick={() => onAt(place + 1)}>Next</button>
          <button type="button" onClick={() => onShow(row)} title="Show the longest of these among the threads">Show at {timeLabel(begin)}</button>
        </span>
      </div>
      <div class="two-chains">
        <div>
          <h3>Blocked <span class="muted">for example <bdi dir="ltr">{threadLabel(threads, data.thread[row]!)}</bdi></span></h3>
          <ChainList frames={data.chains.frames(data.chain[row]!)} inside={insideOf(data, data.chain[row]!, data.method[row]!)}
            missing="The call chain could not be recorded." label="Call chain of the blocked thread, innermost first" />
        </div>
        <div>
          <h3>Held by {owner > 0 && <span class="muted">for example <bdi dir="ltr">{threadLabel(threads, owner - 1)}</bdi></span>}</h3>
          <ChainList frames={kind === OwnerKind.Chain ? data.chains.frames(owners.chain[who]!) : []}
            inside={insideOf(data, owners.chain[who]!, owners.method[who]!)} missing={missingOwner(kind)}
            label="Call chain of the owner, innermost first" />
        </div>
      </div>
    </section>
  );
}

function missingOwner(kind: number): string {
  const key = kind === OwnerKind.HandOff ? HAND_OFF : kind === OwnerKind.Thread ? NO_CHAIN : UNKNOWN_OWNER;
  const words = SPECIAL_MEANING[key]!;
  return `${words[0]!.toUpperCase()}${words.slice(1)}.`;
}

// How many frames, from the innermost on, are the insides of locking.
export function insideOf(data: Contentions, chain: number, method: number): number {
  if (method === 0) return 0;
  let inside = 0;
  for (let at = chain; at > 0; at = data.chains.parent[at]!, inside++) if (data.chains.label[at] === method - 1) return inside;
  return 0;
}

export function ChainList({frames, inside, missing, label}: {
  frames: readonly string[]; inside: number; missing: string; label: string;
}) {
  if (frames.length === 0) return <p class="muted">{missing}</p>;
  return (
    <ol class="chain" aria-label={label} tabIndex={0}>
      {frames.slice(0, MOST_FRAMES).map((frame, i) => (
        <li key={i} class={i < inside ? 'muted' : i === inside ? 'culprit' : undefined}><bdi dir="ltr">{clipped(frame, 300)}</bdi></li>
      ))}
      {frames.length > MOST_FRAMES && <li class="muted">and {count(frames.length - MOST_FRAMES)} more</li>}
    </ol>
  );
}
