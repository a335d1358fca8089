// What was recorded, how, and what it came to.
import type {ComponentChildren} from 'preact';
import {clipped} from '../data/visible_text';
import type {Engine, Head} from '../data/head';
import {bytes, count, duration, interval, share} from '../model/format';

const sum = (values: Readonly<Record<string, number>>): number => Object.values(values).reduce((a, b) => a + b, 0);

const PROFILE_WORDS: Readonly<Record<string, string>> = {wall: 'wall clock ', alloc: 'allocation '};

const every = (engine: Engine): string =>
  engine.interval_ns > 0 ? interval(engine.interval_ns) : engine.interval_bytes > 0 ? bytes(engine.interval_bytes) : '';

export function RecordingHead({head}: {head: Head}) {
  const lost = head.engines.reduce((all, engine) => all + sum(engine.dropped), 0);
  const words = [
    head.jvm && `JVM ${head.jvm}`,
    head.pid > 0 && `pid ${head.pid}`,
    head.duration_ns > 0 && duration(head.duration_ns),
    ...head.engines.map((e) => [e.name, e.mechanism, every(e)].filter(Boolean).join(' ')),
    `${count(head.samples.count)} ${PROFILE_WORDS[head.profile] ?? ''}samples`,
    head.samples.failed > 0 && `${share(head.samples.failed, head.samples.count)} failed`,
    lost > 0 && `${count(lost)} dropped`,
    head.against && `compared with ${head.against.file}`,
  ].filter(Boolean) as string[];
  return (
    <header>
      <div class="title">
        <h1><bdi dir="ltr">{clipped(head.title || head.file || 'recording', 120)}</bdi></h1>
        <ul class="summary">{words.map((word, i) => <li key={i}><bdi dir="ltr">{clipped(word, 80)}</bdi></li>)}</ul>
      </div>
      {(head.damaged || head.problems.length > 0) && (
        <div class="warning" role="alert">
          <strong>{head.damaged ? 'The recording is damaged; what was readable is shown.' : 'Note:'}</strong>
          <ul>{head.problems.slice(0, 20).map((text, i) => <li key={i}>{clipped(text, 400)}</li>)}</ul>
        </div>
      )}
      {head.verdict.length > 0 && (
        <ol class="verdict" aria-label="Verdict">
          {head.verdict.map((line, i) => <li key={i}><bdi dir="ltr">{clipped(line, 400)}</bdi></li>)}
        </ol>
      )}
      <details>
        <summary>How it was recorded</summary>
        <dl>
          <Fact term="File">{clipped(head.file, 400)}</Fact>
          <Fact term="Compared with">{againstText(head)}</Fact>
          <Fact term="JVM">{head.jvm}</Fact>
          <Fact term="Process">{head.pid > 0 ? String(head.pid) : ''}</Fact>
          <Fact term="Processors">{head.cpus > 0 ? String(head.cpus) : ''}</Fact>
          <Fact term="Start">{head.start_ms > 0 ? new Date(head.start_ms).toISOString().replace('T', ' ').slice(0, 19) + ' UTC' : ''}</Fact>
          <Fact term="Duration">{head.duration_ns > 0 ? duration(head.duration_ns) : ''}</Fact>
          <Fact term="Recorded by">
            {head.producer}{head.producer !== '' && head.attached ? ', attached to the running JVM' : ''}
          </Fact>
          {head.engines.map((engine, i) => <EngineFact key={i} engine={engine} />)}
          <Fact term="Samples">{sampleText(head)}</Fact>
          <Fact term="CPU time not sampled">
            {Object.entries(head.unsampled_ns).filter(([, ns]) => ns > 0).map(([kind, ns]) => `${kind} ${duration(ns)}`)
              .join(', ')}
          </Fact>
          <Fact term="Cost of recording">
            {head.overhead.app_threads_ns + head.overhead.background_ns > 0
              ? `${duration(head.overhead.app_threads_ns)} in the program's threads, ${
                  duration(head.overhead.background_ns)} in the background` : ''}
          </Fact>
        </dl>
      </details>
    </header>
  );
}

function Fact({term, children}: {term: string; children: ComponentChildren}) {
  const isEmpty = children === '' || (Array.isArray(children) && children.every((child) => child === ''));
  return isEmpty ? null : <div><dt>{term}</dt><dd><bdi dir="ltr">{children}</bdi></dd></div>;
}

function EngineFact({engine}: {engine: Engine}) {
  const dropped = Object.entries(engine.dropped).filter(([, n]) => n > 0);
  return (
    <div>
      <dt>{`Engine ${clipped(engine.name, 40)}`}</dt>
      <dd>
        <bdi dir="ltr">
          {clipped(engine.mechanism, 100)}{every(engine) !== '' ? `, every ${every(engine)}` : ''}
          {engine.why !== '' ? `; ${clipped(engine.why, 400)}` : ''}
          <br />
          {count(engine.taken)} taken = {count(engine.written)} written + {count(sum(engine.dropped))} dropped
          {dropped.length > 0 ? ` (${dropped.map(([cause, n]) => `${clipped(cause, 60)} ${count(n)}`).join(', ')})` : ''}
          {`; ${count(engine.failed)} of the written without a stack (${share(engine.failed, engine.written)})`}
        </bdi>
      </dd>
    </div>
  );
}

const SCALES: Readonly<Record<string, string>> = {
  second: 'its weights are scaled to the length of this one', run: 'weights are as recorded',
  share: 'its weights are scaled to the whole of this one',
};

function againstText({against}: Head): string {
  if (against === undefined) return '';
  return [
    clipped(against.file, 400), against.jvm && `JVM ${clipped(against.jvm, 80)}`,
    against.duration_ns > 0 && duration(against.duration_ns), `${count(against.samples)} samples`, SCALES[against.per],
  ].filter(Boolean).join(', ');
}

function sampleText(head: Head): string {
  const {count: all, failed, imprecise, truncated} = head.samples;
  return [
    count(all),
    failed > 0 && `${share(failed, all)} failed`,
    imprecise > 0 && `${share(imprecise, all)} imprecise (code compiled before debug information was switched on)`,
    truncated > 0 && `${share(truncated, all)} cut at the depth limit`,
  ].filter(Boolean).join(', ');
}
