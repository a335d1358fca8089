// The recording at a glance: the verdict, what happened when, where to look first, and what threads came to.
import {useMemo} from 'preact/hooks';
import {ChartActions, textTable} from '../charts/actions';
import {FilterChips} from '../charts/filter_chips';
import {usePart, type Part} from '../charts/parts';
import {cutOf} from '../charts/time';
import type {Columns} from '../data/columns';
import type {Recording} from '../data/recording';
import {clipped} from '../data/visible_text';
import {kindWord, laneData} from '../lanes/lane_data';
import {waitsOf, type Waits} from '../lanes/waits';
import {contentionsOf, type Contentions} from '../locks/contentions';
import {weightByMoment} from '../model/filter';
import {count, duration} from '../model/format';
import type {TimeRange, ViewProps} from '../shell/state';
import {threadMask, threadTest} from '../shell/threads_filter';
import {useProfile} from '../shell/use_profile';
import {HeatView} from './heat_view';
import {ChangedMethods, HotLocks, HotMethods} from './hot_spots';
import {kindRows, type KindRow} from './kinds';
import {allocSeries, cpuSeries, lockSeries, pauseSeries, waitSeries, type Series} from './series';
import {Timeline} from './timeline';
import {Verdict} from './verdict';

// A part that is damaged leaves out what it would show; the others are there.
function made<T>(part: Part, recording: Recording, make: (columns: Columns, recording: Recording) => T): T | null {
  if (part.state !== 'ready' || part.columns === null) return null;
  try {
    return make(part.columns, recording);
  } catch {
    return null;
  }
}

export function Overview(props: ViewProps) {
  const {recording, state, change, dark} = props;
  const {head, threads} = recording;
  const profiles = [useProfile(recording, 'cpu'), useProfile(recording, 'alloc'), useProfile(recording, state.weight)] as const;
  const [cpu, alloc, chosen] = [profiles[0].loaded, profiles[1].loaded, profiles[2].loaded];
  const locksPart = usePart(recording, 'locks');
  const waitsPart = usePart(recording, 'waits');
  const timelinePart = usePart(recording, 'timeline');
  const cpuProfile = cpu?.head.name === 'cpu' ? cpu.profile : null;
  const allocProfile = alloc?.head.name === 'alloc' ? alloc.profile : null;
  const contentions: Contentions | null = useMemo(() => made(locksPart, recording, contentionsOf), [locksPart]);
  const waits: Waits | null = useMemo(() => made(waitsPart, recording, waitsOf), [waitsPart]);
  const timeline = timelinePart.state === 'ready' ? timelinePart.columns : null;
  const isChosen = useMemo(() => threadTest(threads, state.thread), [threads, state.thread]);
  const lanes = useMemo(() => laneData(threads, cpuProfile, contentions, waits), [threads, cpuProfile, contentions, waits]);
  const series = useMemo(() => {
    // The kernel's account knows kinds, not threads: of chosen threads samples tell.
    const account = isChosen === null ? timeline : null;
    const ofChosen = cpuProfile === null || isChosen === null ? cpuProfile : onlyThreads(cpuProfile, isChosen);
    return [
      cpuSeries(head, account, ofChosen, threads),
      waitSeries(head, lanes.waits, isChosen),
      lockSeries(head, contentions, isChosen),
      allocProfile === null ? null : allocSeries(padded(weightByMoment(allocProfile, threadMask(allocProfile, threads, state.thread)), head.moments)),
      pauseSeries(head, timeline),
    ].filter((each): each is Series => each !== null);
  }, [recording, timeline, cpuProfile, allocProfile, contentions, lanes, isChosen]);
  const cut = useMemo(() => cutOf(head, state.range, isChosen), [head, state.range, isChosen]);
  const heat = useMemo(() => (chosen === null ? null : weightByMoment(chosen.profile, threadMask(chosen.profile, threads, state.thread))), [chosen, state.thread]);
  const kinds = useMemo(() => kindRows(lanes, state.range === null ? null
    : {from: state.range.first * head.moment_ns, to: state.range.end * head.moment_ns}, head.moment_ns), [lanes, state.range]);
  const onRange = (range: TimeRange | null, step: boolean): void => change({range}, step);
  // All at once: what comes one by one moves what the reader is about to touch.
  const isLoading = [locksPart, waitsPart, timelinePart].some((part) => part.state === 'loading') ||
    (head.profiles.length > 0 && profiles.some(({loaded, error, isMissing}) => loaded === null && error === '' && !isMissing));
  return (
    <div class="overview view">
      <Verdict {...props} />
      <div class="overview-columns">
        <div class="overview-time">
          {series.length > 0 && !isLoading ? <Timeline head={head} series={series} range={state.range} onRange={onRange} dark={dark} limits={<FilterChips {...props} />} />
            : <p class="empty" role="status">{isLoading ? 'Reading what happened when' : whyNoTimes(props)}</p>}
          {heat !== null && chosen !== null && !isLoading && (
            <HeatView head={head} values={heat} what={chosen.head.what || chosen.head.name} unit={chosen.head.unit} range={state.range} onRange={onRange} dark={dark}
              weight={chosen.head.name} onWeight={(weight) => change({weight}, true)} />
          )}
        </div>
        <div class="overview-side">
          {chosen !== null && chosen.profile.nodes.before !== null && (
            <ChangedMethods change={change} profile={chosen.profile} weight={chosen.head.name} unit={chosen.head.unit} what={chosen.head.what || chosen.head.name} />
          )}
          {chosen !== null && chosen.profile.nodes.before === null && <HotMethods {...props} profile={chosen.profile} weight={chosen.head.name} unit={chosen.head.unit} what={chosen.head.what || chosen.head.name} />}
          {contentions !== null && <HotLocks {...props} data={contentions} cut={cut} />}
          {kinds.length > 0 && <Kinds rows={kinds} isRange={state.range !== null} onKind={(kind) => change({thread: `k${kind}`}, true)} />}
        </div>
      </div>
    </div>
  );
}

function whyNoTimes({recording: {head}}: ViewProps): string {
  if (head.against !== undefined) return `This is a comparison with ${clipped(head.against.file, 100)}: it has no common time.`;
  if (head.profiles.length === 0 && head.parts.length <= 2) return 'Nothing was recorded: there are no samples, no lock events and no waits in this file. tarsier doctor tells what can be recorded on a machine.';
  return 'This recording does not tell what happened when.';
}

function padded(values: Float64Array, moments: number): Float64Array {
  if (values.length === moments) return values;
  const into = new Float64Array(moments);
  into.set(values.subarray(0, moments));
  return into;
}

// The same profile, with weights of the chosen threads only.
function onlyThreads<P extends import('../data/profile').Profile>(profile: P, isChosen: (thread: number) => boolean): P {
  if (profile.moments === null) return profile;
  const kept = new Uint8Array(profile.nodes.count);
  for (const {row, first, end} of profile.threads) if (isChosen(row)) kept.fill(1, first, end);
  const {moments} = profile;
  return {...profile, moments: {...moments, self: moments.self.map((ns, i) => (kept[moments.node[i]!] === 1 ? ns : 0))}};
}

function Kinds({rows, isRange, onKind}: {rows: readonly KindRow[]; isRange: boolean; onKind: (kind: string) => void}) {
  const hasSteal = rows.some(({steal}) => steal !== 0);
  const time = (ns: number): string => (ns < 0 ? '?' : ns === 0 ? '' : duration(ns));
  const columns: readonly (readonly [string, (row: KindRow) => string, boolean])[] = [
    ['Threads', (row) => count(row.threads), true], ['CPU', (row) => time(row.cpu), true], ['Steal', (row) => time(row.steal), hasSteal],
    ['Blocked', (row) => time(row.blocked), rows.some(({blocked}) => blocked > 0)], ['Waiting', (row) => time(row.waiting), rows.some(({waiting}) => waiting > 0)],
  ];
  const shown = columns.filter(([, , isThere]) => isThere);
  const cells = (row: KindRow): string[] => shown.map(([, cell]) => cell(row));
  const head = shown.map(([label]) => label);
  return (
    <section aria-label="Threads by kind">
      <div class="panel-head">
        <h2>Threads by kind</h2><span class="muted">{isRange ? 'in the selected time, by samples' : 'whole recording'}</span><span class="gap" />
        <ChartActions name="kinds" text={() => textTable([['kind', ...head], ...rows.map((row) => [row.kind, ...cells(row)])], [false, ...head.map(() => true)])} />
      </div>
      <div class="plain-table">
        <table>
          <thead><tr><th scope="col">Kind</th>{head.map((label) => <th key={label} scope="col" class="number"
            title={label === 'Steal' ? 'CPU time that the machine gave to others while a thread wanted to run; known of the whole recording only' : undefined}>{label}</th>)}</tr></thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.kind}>
                <th scope="row"><button type="button" class="link-button" title="Only these threads, on the whole page" onClick={() => onKind(row.kind)}>{kindWord(row.kind)}</button></th>
                {cells(row).map((cell, i) => <td key={i} class="number">{cell}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
