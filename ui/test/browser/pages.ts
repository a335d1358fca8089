// Writes the pages that the browser tests open.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {encodeRecording, fillPage, HEAD, type StackSpec, type ThreadSpecs} from '../encode';
import {CHANGED, serverLike, SMALL, SMALL_HEAD, TIMED} from '../sample';
import type {Head} from '../../src/data/head';

const HOSTILE_NAMES = [
  '</script><script>window.hacked=1</script>',
  '<img src=x onerror="window.hacked=1">',
  '"\'`${window.hacked=1}',
  '<!--',
  'a\u202egnirts.desrever\u2066\u200bb',
  'tab\tnewline\nnull\u0000esc\u001b[31m',
  'z\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301algo',
  '\u05d0\u05d1\u05d2.method',
  'lone \ud800 surrogate',
  `long.${'x'.repeat(60_000)}`,
];

const POOLS = Object.fromEntries(Array.from({length: 24}, (_, i) => [`http-worker-${i + 1}`, 'http-worker']));

function deep(frames: number): StackSpec[] {
  return [{thread: 'deep', stack: Array.from({length: frames}, (_, i) => `app.Deep.level${i % 10}|c2|${i % 50}`), ns: 1e9,
           samples: 1000},
          {thread: 'flat', stack: ['app.Flat.run|c2|1'], ns: 1e9, samples: 1000}];
}

export function writePages(folder: string): Record<string, string> {
  const template = readFileSync('dist/page.html', 'utf8');
  mkdirSync(folder, {recursive: true});
  const written: Record<string, string> = {};
  const writeAll = (name: string, head: Head, profiles: Readonly<Record<string, readonly StackSpec[]>>, specs: ThreadSpecs = {}): void => {
    written[name] = `${folder}/${name}.html`;
    writeFileSync(written[name]!, fillPage(template, encodeRecording(head, profiles, specs)));
  };
  const write = (name: string, head: Head, stacks: readonly StackSpec[], specs: ThreadSpecs = {}): void =>
    writeAll(name, head, {cpu: stacks}, specs);
  const threads = {osIds: {main: 101, 'pool-1-thread-1': 102, 'pool-1-thread-2': 103},
                   pools: {'pool-1-thread-1': 'pool-1', 'pool-1-thread-2': 'pool-1'}};
  write('small', SMALL_HEAD, SMALL, threads);
  writeAll('timed', {...SMALL_HEAD, title: 'timed', moments: 10, moment_ns: 100e6, duration_ns: 1e9}, {cpu: TIMED, alloc: [
    {thread: 'main', stack: ['app.Main.main|java|12', 'byte[]|class'], ns: 1024 ** 3, samples: 200, moment: 4}]}, threads);
  write('server', {...SMALL_HEAD, title: 'orders-service'}, serverLike(20_000).map((stack, i) => (
    {...stack, moment: Math.floor(150 + 140 * Math.sin(i * 0.618) * Math.cos(i % 97))})), {pools: POOLS});
  const hostile = HOSTILE_NAMES[0]!;
  write('hostile', {...HEAD, title: hostile, file: hostile, jvm: hostile, producer: hostile, problems: HOSTILE_NAMES,
                    damaged: true, verdict: HOSTILE_NAMES,
                    engines: [{...HEAD.engines[0]!, name: hostile, mechanism: hostile, why: hostile, dropped: {[hostile]: 1}}]},
    HOSTILE_NAMES.map((name, i) => ({thread: name, stack: [`${name}|c2|1`, `inner ${name}|inlined|2`], ns: (20 - i) * 1e6})));
  writeAll('alloc', {...HEAD, title: 'alloc',
                  engines: [{...HEAD.engines[0]!, name: 'alloc', interval_ns: 0, interval_bytes: 512 * 1024}]}, {alloc: [
    {thread: 'main', stack: ['app.Main.main|java|12', 'app.Json.parse|java|77', 'byte[]|class'], ns: 3 * 1024 ** 3, samples: 600},
    {thread: 'main', stack: ['app.Main.main|java|12', 'app.Json.parse|java|77', 'java.lang.String|class'], ns: 1024 ** 3, samples: 200},
  ]});
  writeAll('locks', {...HEAD, title: 'locks', moments: 10, moment_ns: 100e6, duration_ns: 1e9}, {
    cpu: [{thread: 'main', stack: ['app.Main.main|java|12'], ns: 1e8, samples: 100, moment: 3}],
    locks: [{thread: 'main', stack: ['app.Main.main|java|12', 'app.Cache.get|c2|7', 'app.Cache|class'], ns: 3e8, samples: 2, moment: 1},
            {thread: 'main', stack: ['app.Main.main|java|12', 'app.Cache.get|c2|7', 'app.Cache|class'], ns: 1e8, samples: 0, moment: 2}],
    owners: [{thread: 'writer', stack: ['app.Writer.run|java|3', 'app.Cache.put|c2|9', 'app.Cache|class'], ns: 3.5e8, samples: 2, moment: 1},
             {thread: '[no owner known]', stack: ['[hand-off]|marker', 'app.Cache|class'], ns: 0.5e8, samples: 1, moment: 2}]});
  const against = {file: hostile, jvm: hostile, duration_ns: 20e9, samples: 1000, per: 'second'};
  write('compared', {...HEAD, title: 'compared', against, verdict: ['app.Main.slower got slower.']}, [
    ...CHANGED, {thread: hostile, stack: [`${hostile}|c2|1`], ns: 0, before: 1e6, samples: 1},
  ]);
  write('deep', {...HEAD, title: 'deep'}, deep(100_000));
  write('empty', {...HEAD, title: 'empty', engines: []}, []);
  return written;
}
