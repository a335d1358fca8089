// How far the recording can be trusted, and what it cost the program: all of it is counted, nothing is lost unseen.
import {ChartActions, textTable} from '../charts/actions';
import {eventsOf, exactText, type Engine, type Head, type ProfileHead} from '../data/head';
import {THREAD_KINDS, type Threads} from '../data/recording';
import {clipped} from '../data/visible_text';
import {bytes, count, duration, interval, share} from '../model/format';
import type {ViewProps} from '../shell/state';
import {accountOf, costOf, stacksOf, type Stacks} from './accounts';

export function Quality({recording}: ViewProps) {
  const {head, threads} = recording;
  return (
    <div class="quality view" data-main tabIndex={-1}>
      <div class="panel-head">
        <h2>What was recorded, how well, and what it cost</h2><span class="gap" />
        <ChartActions name="quality" text={() => qualityText(head, threads)} />
      </div>
      <Problems head={head} />
      <div class="quality-columns">
        <div>
          <section aria-label="Engines">
            {head.engines.length === 0
              ? <p class="muted">The file does not tell by which mechanism it was recorded{head.producer !== '' ? ` (written by ${clipped(head.producer, 100)})` : ''}.</p>
              : head.engines.map((engine, i) => <EngineCard key={i} engine={engine} />)}
          </section>
        </div>
        <div>
          <CostCard head={head} threads={threads} />
          {head.profiles.map((profile) => <StacksCard key={profile.name} profile={profile} engines={head.engines} />)}
          <Kept head={head} />
          <RecordingCard head={head} />
        </div>
      </div>
    </div>
  );
}

function Problems({head}: {head: Head}) {
  if (!head.damaged && head.problems.length === 0 && head.complete >= 1) return <p class="quality-good">No damage and no problems were found.</p>;
  return (
    <div class="warning" role="note">
      <strong>{head.damaged ? 'The recording is damaged; what was readable is shown.' : head.problems.length > 0 ? 'Problems while recording or reading' : ''}</strong>
      {head.complete < 1 && <p>Only {share(head.complete, 1)} of the file has been read.</p>}
      <ul>{head.problems.slice(0, 100).map((text, i) => <li key={i}><bdi dir="ltr">{clipped(text, 600)}</bdi></li>)}</ul>
      {head.problems.length > 100 && <p>and {count(head.problems.length - 100)} more</p>}
    </div>
  );
}

const every = (engine: Engine): string => (engine.interval_ns > 0 ? `every ${interval(engine.interval_ns)}`
  : engine.interval_bytes > 0 ? `every ${bytes(engine.interval_bytes)}` : '');

function EngineCard({engine}: {engine: Engine}) {
  const {pieces, dropped, unexplained} = accountOf(engine);
  const counters = Object.entries(engine.counters ?? {});
  return (
    <article class="card" aria-label={`Engine ${clipped(engine.name, 40)}`}>
      <div class="card-head">
        <h3><bdi dir="ltr">{clipped(engine.name, 40)}</bdi></h3>
        <span><bdi dir="ltr">by {clipped(engine.mechanism || 'an unknown mechanism', 100)}</bdi> {every(engine)}</span>
      </div>
      {engine.why !== '' && <p class="muted"><bdi dir="ltr">{clipped(engine.why, 600)}</bdi></p>}
      {engine.taken + engine.written > 0 && (
        <>
          <div class="account" role="img" aria-label={pieces.map(({label, amount}) => `${label} ${count(amount)}`).join(', ')}>
            {pieces.map(({label, amount, isLost}, i) => amount > 0 && (
              <span key={i} class={isLost ? 'lost' : 'kept'} style={{flexGrow: amount}} title={`${label}: ${count(amount)}`} />
            ))}
          </div>
          <p class="number account-line">
            <strong>{count(engine.taken)}</strong> taken = <strong>{count(engine.written)}</strong> written + <strong class={dropped > 0 ? 'bad' : undefined}>{count(dropped)}</strong> dropped
            {dropped > 0 && ` (${share(dropped, engine.taken)}: ${pieces.filter(({isLost}) => isLost).map(({label, amount}) => `${clipped(label, 60)} ${count(amount)}`).join(', ')})`}
            {engine.failed > 0 && `; ${count(engine.failed)} of the written without a stack (${share(engine.failed, engine.written)})`}
            {unexplained !== 0 && <span class="bad">; {count(Math.abs(unexplained))} are not accounted for</span>}
          </p>
        </>
      )}
      {counters.length > 0 && (
        <details>
          <summary>{count(counters.length)} counters</summary>
          <div class="plain-table counters">
            <table>
              <tbody>{counters.map(([name, amount]) => (
                <tr key={name} class={amount === 0 ? 'muted' : undefined}>
                  <th scope="row"><bdi dir="ltr">{clipped(name, 120)}</bdi></th>
                  <td class="number">{name.includes('(ns') ? duration(amount) : count(amount)}</td>
                </tr>))}
              </tbody>
            </table>
          </div>
        </details>
      )}
    </article>
  );
}

// CPU time of the program, by the kernel's account; 0 if there is none.
function programCpu(threads: Threads): number {
  const cpu = threads.columns.numbers('cpu');
  let sum = 0;
  for (let t = 0; t < Math.min(cpu.length, threads.count); t++) if (THREAD_KINDS[threads.kind[t]!] !== 'tarsier') sum += cpu[t]!;
  return sum;
}

function CostCard({head, threads}: {head: Head; threads: Threads}) {
  const cpu = programCpu(threads);
  const cost = costOf(head, cpu);
  const all = cost.app + cost.background;
  return (
    <article class="card" aria-label="What it cost">
      <div class="card-head"><h3>What it cost</h3></div>
      {all === 0 ? <p class="muted">The file does not tell what recording it cost.</p> : (
        <>
          <p><strong class="big">{cost.ofCpu > 0 ? share(all, cpu) : share(cost.ofTime, 1)}</strong>{' '}
            {cost.ofCpu > 0 ? 'of the program\u2019s own CPU time' : 'of one CPU'}</p>
          <dl>
            <div><dt>in the program’s threads</dt><dd>{duration(cost.app)}{cpu > 0 ? `, ${share(cost.app, cpu)} of their CPU time` : ''}</dd></div>
            <div><dt>in the background</dt><dd>{duration(cost.background)}{cpu > 0 ? `, ${share(cost.background, cpu)}` : ''}</dd></div>
            <div><dt>of the time recorded</dt><dd>{share(cost.ofTime, 1)} of one CPU{head.cpus > 0 ? `, ${share(cost.ofMachine, 1)} of all ${count(head.cpus)}` : ''}</dd></div>
          </dl>
        </>
      )}
    </article>
  );
}

function StacksCard({profile, engines}: {profile: ProfileHead; engines: readonly Engine[]}) {
  const exact = exactText(profile, engines);
  const stacks = stacksOf(profile);
  const {samples} = profile;
  const unsampled = Object.entries(profile.unsampled_ns).filter(([, ns]) => ns > 0);
  return (
    <article class="card" aria-label={`Stacks of ${clipped(profile.what || profile.name, 60)}`}>
      <div class="card-head"><h3>Stacks: <bdi dir="ltr">{clipped(profile.what || profile.name, 60)}</bdi></h3><span>{count(samples.count)} {eventsOf(profile)}</span></div>
      {stacks !== null && <StackBar stacks={stacks} />}
      <dl>
        {exact !== '' && <div><dt>chance</dt><dd>{exact}</dd></div>}
        {stacks !== null && <div><dt>complete</dt><dd>{count(stacks.complete)} ({share(stacks.complete, stacks.samples)})</dd></div>}
        {stacks !== null && stacks.incomplete > 0 && <div><dt>frames are missing</dt><dd>{count(stacks.incomplete)} ({share(stacks.incomplete, stacks.samples)})</dd></div>}
        {(stacks?.failed ?? []).map(([cause, n]) => <div key={cause}><dt>failed: <bdi dir="ltr">{clipped(cause, 60)}</bdi></dt><dd>{count(n)} ({share(n, stacks!.samples)})</dd></div>)}
        {stacks === null && samples.failed > 0 && <div><dt>failed</dt><dd>{count(samples.failed)} ({share(samples.failed, samples.count)})</dd></div>}
        {samples.truncated > 0 && <div><dt>cut at the depth limit</dt><dd>{count(samples.truncated)} ({share(samples.truncated, samples.count)})</dd></div>}
        {samples.imprecise > 0 && <div><dt>imprecise</dt><dd>{count(samples.imprecise)} ({share(samples.imprecise, samples.count)}): innermost line and inlining may be off</dd></div>}
        {stacks !== null && stacks.mechanisms.length > 0 && (
          <div><dt>found by</dt><dd>{stacks.mechanisms.map(([name, n]) => `${clipped(name, 40)} ${count(n)} (${share(n, sum(stacks.mechanisms))})`).join(', ')}</dd></div>
        )}
        {stacks !== null && stacks.edgesChecked > 0 && (
          <div><dt>calls checked</dt><dd>{count(stacks.edgesChecked)} of {count(stacks.edges)} against the bytecode, {count(stacks.badEdges)} of them wrong ({share(stacks.badEdges, stacks.edgesChecked)})</dd></div>
        )}
        {stacks?.native && <div><dt>native frames</dt><dd>{Object.entries(stacks.native).map(([name, n]) => `${name.replace(/_/g, ' ')} ${count(n)}`).join(', ')}</dd></div>}
        {stacks?.latency && <div><dt>from asking to having one</dt><dd>{Object.entries(stacks.latency).map(([name, ns]) => `${name.replace('_ns', '')} ${duration(ns)}`).join(', ')}</dd></div>}
        {unsampled.length > 0 && <div><dt>CPU time not sampled</dt><dd>{unsampled.map(([kind, ns]) => `${clipped(kind, 20)} ${duration(ns)}`).join(', ')}</dd></div>}
      </dl>
    </article>
  );
}

const sum = (pairs: readonly (readonly [string, number])[]): number => pairs.reduce((all, [, n]) => all + n, 0);

function StackBar({stacks}: {stacks: Stacks}) {
  if (stacks.samples === 0) return null;
  const failed = sum(stacks.failed);
  return (
    <div class="account" role="img" aria-label={`complete ${count(stacks.complete)}, frames are missing ${count(stacks.incomplete)}, failed ${count(failed)}`}>
      {stacks.complete > 0 && <span class="kept" style={{flexGrow: stacks.complete}} title={`complete: ${count(stacks.complete)}`} />}
      {stacks.incomplete > 0 && <span class="partly" style={{flexGrow: stacks.incomplete}} title={`frames are missing: ${count(stacks.incomplete)}`} />}
      {failed > 0 && <span class="lost" style={{flexGrow: failed}} title={`failed: ${count(failed)}`} />}
    </div>
  );
}

// What the page leaves out of large recordings.
function Kept({head}: {head: Head}) {
  const {locks, waits} = head;
  if (locks === undefined && waits === undefined) return null;
  return (
    <article class="card" aria-label="What this page holds of it">
      <div class="card-head"><h3>What this page holds of it</h3></div>
      <dl>
        {locks !== undefined && <div><dt>contentions</dt><dd>{count(locks.kept)} of {count(locks.contentions)} one by one, with {share(locks.kept_ns, locks.total_ns)} of {duration(locks.total_ns)}
          {locks.kept < locks.contentions ? '; shorter ones are added up' : ''}; owners are {locks.owners ? '' : 'not '}recorded</dd></div>}
        {waits !== undefined && <div><dt>waits</dt><dd>{count(waits.kept)} of {count(waits.waits)}, with {share(waits.kept_ns, waits.total_ns)} of {duration(waits.total_ns)}; who ended them is {waits.wakers ? '' : 'not '}recorded</dd></div>}
        <div><dt>time</dt><dd>in {count(head.moments)} moments of {interval(Math.max(head.moment_ns, 1))}</dd></div>
      </dl>
    </article>
  );
}

function RecordingCard({head}: {head: Head}) {
  const facts: readonly (readonly [string, string])[] = [
    ['file', head.file], ['recorded by', head.producer + (head.producer !== '' && head.attached ? ', attached to the running JVM' : '')], ['JVM', head.jvm],
    ['process', head.pid > 0 ? String(head.pid) : ''], ['CPUs', head.cpus > 0 ? count(head.cpus) : ''],
    ['start', head.start_ms > 0 ? `${new Date(head.start_ms).toISOString().replace('T', ' ').slice(0, 19)} UTC` : ''],
    ['duration', head.duration_ns > 0 ? duration(head.duration_ns) : ''],
    ['stolen by other machines', head.machine !== undefined ? `${duration(head.machine.stolen_ns)}${head.machine.source !== '' ? ` (${head.machine.source})` : ''}` : ''],
  ];
  return (
    <article class="card" aria-label="The recording">
      <div class="card-head"><h3>The recording</h3></div>
      <dl>{facts.filter(([, text]) => text !== '').map(([term, text]) => <div key={term}><dt>{term}</dt><dd><bdi dir="ltr">{clipped(text, 400)}</bdi></dd></div>)}</dl>
    </article>
  );
}

function qualityText(head: Head, threads: Threads): string {
  const cpu = programCpu(threads);
  const cost = costOf(head, cpu);
  const rows = head.engines.map((engine) => {
    const {dropped} = accountOf(engine);
    return [engine.name, engine.mechanism, every(engine), count(engine.taken), count(engine.written), count(dropped), count(engine.failed)];
  });
  const stacks = head.profiles.map((profile) => {
    const told = stacksOf(profile);
    return [profile.name, count(profile.samples.count), told === null ? '' : count(told.complete), told === null ? '' : count(told.incomplete),
            told === null ? count(profile.samples.failed) : count(sum(told.failed)), count(profile.samples.imprecise)];
  });
  return [
    textTable([['engine', 'mechanism', 'interval', 'taken', 'written', 'dropped', 'without a stack'], ...rows], [false, false, false, true, true, true, true]),
    textTable([['stacks', 'samples', 'complete', 'incomplete', 'failed', 'imprecise'], ...stacks], [false, true, true, true, true, true]),
    `cost: ${duration(cost.app)} in the program's threads, ${duration(cost.background)} in the background${cost.ofCpu > 0 ? `, ${share(cost.ofCpu, 1)} of its CPU time` : ''}\n`,
    ...head.problems.map((text) => `problem: ${text}\n`),
  ].join('\n');
}
