import assert from 'node:assert/strict';
import test from 'node:test';
import {niceStep, rangeBetween, Spreader, ticks, timeLabel} from '../src/charts/time';
import {Columns} from '../src/data/columns';
import {laneData, hitAt, orderLanes, sumsOf} from '../src/lanes/lane_data';
import {within, zoomed} from '../src/lanes/lane_panel';
import {causesOf, formatSelection, mainCause, marksOf, parseSelection} from '../src/lanes/selection';
import {waitsOf} from '../src/lanes/waits';
import {contentionsOf} from '../src/locks/contentions';
import {cellMoments, heatMap} from '../src/overview/heat';
import {changedMost} from '../src/overview/hot_spots';
import {kindRows} from '../src/overview/kinds';
import {bucketsFor, cpuSeries, inBuckets, lockSeries, pauseSeries, waitSeries} from '../src/overview/series';
import {accountOf, costOf, stacksOf} from '../src/quality/accounts';
import {decoded} from './encode';
import {encodeColumns} from './story_columns';
import {CONTENTIONS, encodeLocks, encodeWaits, recordingOf, threadsNamed} from './story_sample';

const sum = (values: Float64Array): number => values.reduce((a, b) => a + b, 0);
const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-6 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

test('an interval gives each moment its part', () => {
  const spreader = new Spreader(10, 100);
  spreader.add(150, 300, 600); // 50 of moment 1, all of 2 and 3, 50 of 4: 2 for each ns
  assert.deepEqual([...spreader.take()], [0, 100, 200, 200, 100, 0, 0, 0, 0, 0]);
  const edges = new Spreader(3, 100);
  edges.add(0, 300, 3);
  edges.add(250, 1000, 1000); // only what is inside
  edges.add(120, 0, 7);
  edges.add(5000, 10, 10);
  const values = edges.take();
  near(values[0]!, 1);
  near(values[1]!, 8);
  near(values[2]!, 51);
});

test('any intervals: nothing is lost, nothing is made', () => {
  const spreader = new Spreader(64, 1000);
  let all = 0;
  for (let i = 0; i < 5000; i++) {
    const begin = (i * 7919) % 60_000;
    const length = (i * 31) % 4000;
    const inside = Math.min(begin + length, 64_000) - begin;
    spreader.add(begin, length, length);
    all += length === 0 ? 0 : inside;
  }
  near(sum(spreader.take()), all);
});

test('axes count in steps of people', () => {
  assert.equal(niceStep(3e8), 5e8);
  assert.equal(niceStep(7e9), 10e9);
  assert.equal(niceStep(61e9), 120e9);
  assert.deepEqual(ticks(0, 2e9, 4).map(({label}) => label), ['0.0\u202fs', '0.5\u202fs', '1.0\u202fs', '1.5\u202fs', '2.0\u202fs']);
  assert.equal(timeLabel(125e9, 1e9), '2:05');
  assert.equal(timeLabel(3_725_500e6, 1e8), '1:02:05.5');
  assert.equal(timeLabel(1_234_567_890, 1e3), '1.234568\u202fs');
});

test('ranges are of whole moments, and everything is no range', () => {
  const head = recordingOf({moments: 100}, threadsNamed([]), {}).head;
  assert.deepEqual(rangeBetween(head, 7.2, 3.9), {first: 3, end: 8});
  assert.deepEqual(rangeBetween(head, 5, 5), {first: 5, end: 6});
  assert.equal(rangeBetween(head, -3, 400), null);
});

const threads = threadsNamed(['t0', 't1', 't2', 'gc'], [0, 0, 0, 1], ['pool', 'pool', '', '']);
const recording = recordingOf({moments: 20, moment_ns: 100}, threads, {});
const contentions = contentionsOf(new Columns(encodeLocks(CONTENTIONS)), recording);
const waits = waitsOf(new Columns(encodeWaits([
  {begin: 300, ns: 100, thread: 0, kind: 'socket', chain: ['read'], waker: 2, wakerChain: ['write']},
  {begin: 900, ns: 50, thread: 2, kind: 'parked'}])), recording);
const lanes = laneData(threads, null, contentions, waits);

test('threads came to what they were recorded with, also in a part of the time', () => {
  const whole = sumsOf(lanes, -Infinity, Infinity, 100);
  assert.deepEqual([...whole.blocked], [150, 225, 0, 0]);
  assert.deepEqual([...whole.blockedTimes], [2, 2, 0, 0]);
  assert.deepEqual([...whole.waiting], [100, 0, 50, 0]);
  const part = sumsOf(lanes, 180, 350, 100);
  assert.deepEqual([...part.blocked], [20, 170, 0, 0]);
  assert.deepEqual([...part.waiting], [50, 0, 0, 0]);
});

test('lanes are grouped by pool or kind, closed groups hide theirs', () => {
  const sums = sumsOf(lanes, -Infinity, Infinity, 100);
  const {lanes: all, hidden} = orderLanes(lanes, sums, () => true, new Set());
  assert.deepEqual(all.map(({label}) => label), ['pool', 't1', 't0', 'application', 't2']);
  assert.equal(hidden, 1);
  assert.deepEqual(orderLanes(lanes, sums, () => true, new Set(['papp.pool'])).lanes.map(({label}) => label), ['pool', 'application', 't2']);
  assert.deepEqual(orderLanes(lanes, sums, (thread) => thread === 2, new Set()).lanes.map(({label}) => label), ['application', 't2']);
});

test('a point on a lane finds what the thread did then', () => {
  assert.deepEqual(hitAt(lanes, 0, 130, 0, 100), {kind: 'blocked', row: 0});
  assert.deepEqual(hitAt(lanes, 0, 350, 0, 100), {kind: 'waiting', row: 0});
  assert.deepEqual(hitAt(lanes, 0, 250, 0, 100), {kind: 'idle'});
  assert.deepEqual(hitAt(lanes, 0, 205, 10, 100), {kind: 'blocked', row: 0});
  assert.deepEqual(hitAt(lanes, 1, 349, 0, 100), {kind: 'blocked', row: 1});
});

test('a blocked time leads to those who held the lock, a wait to the one who ended it', () => {
  const selection = parseSelection('b0', lanes)!;
  assert.equal(formatSelection(selection), 'b0');
  const causes = causesOf(lanes, selection);
  assert.deepEqual(causes.map(({thread, begin, end}) => [thread, begin, end]), [[2, 100, 140], [-1, 140, 150], [1, 150, 180], [2, 180, 200]]);
  assert.equal(mainCause(causes), 0);
  assert.deepEqual(marksOf(lanes, selection, causes[2]!, 100), [
    {thread: 0, begin: 100, end: 200, role: 'selected'}, {thread: 1, begin: 150, end: 180, role: 'owner'}]);
  assert.deepEqual(causesOf(lanes, {kind: 'waiting', row: 0}).map(({thread, begin}) => [thread, begin]), [[2, 400]]);
  assert.deepEqual(causesOf(lanes, {kind: 'waiting', row: 1}), []);
  for (const wrong of ['b99', 'w2', 'r9.1', 'r1', 'x', '', undefined]) assert.equal(parseSelection(wrong, lanes), null);
});

test('zooming keeps its place and its bounds', () => {
  assert.deepEqual(within({from: -50, to: 5000}, 10_000), {from: 0, to: 5050});
  assert.deepEqual(within({from: 9000, to: 20_000}, 10_000), {from: 0, to: 10_000});
  const closer = zoomed({from: 0, to: 100_000}, 25_000, 2, 100_000);
  assert.deepEqual(closer, {from: 12_500, to: 62_500});
  assert.deepEqual(zoomed(closer, 25_000, 0.01, 100_000), {from: 0, to: 100_000});
});

test('rows of the timeline add up to what was recorded', () => {
  const {head} = recording;
  const locks = lockSeries(head, contentions, null)!;
  assert.deepEqual(locks.layers.map(({label}) => label), ['monitors', 'java.util.concurrent']);
  near(locks.layers.reduce((all, {values}) => all + sum(values), 0), 375);
  near(lockSeries(head, contentions, (thread) => thread === 0)!.layers.reduce((all, {values}) => all + sum(values), 0), 150);
  assert.deepEqual(waitSeries(head, waits, null)!.layers.map(({label, values}) => [label, sum(values)]), [['socket', 100], ['parked', 50]]);
  const timeline = new Columns(encodeColumns({
    at: {differences: [0, 1000]}, length: [1000, 1000], app: [500, 1500], gc: [0, 100], processes: [10, 10], idle: [5, 5],
    pause_begin: {differences: [100, 140, 150, 900]}, pause_length: [300, 70, 50, 20], pause_kind: [0, 2, 1, 2]}));
  const cpu = cpuSeries(head, timeline, null, threads)!;
  assert.deepEqual(cpu.layers.map(({label, values}) => [label, Math.round(sum(values))]), [['app', 2000], ['gc', 100], ['other processes', 20]]);
  near(cpu.layers[0]!.values[3]!, 50);
  assert.deepEqual(pauseSeries(head, timeline)!.layers.map(({label, values}) => [label, Math.round(sum(values))]),
    [['collection running', 300], ['paused by the collector', 50], ['other safepoints', 40]]);
  assert.equal(cpuSeries(head, null, null, threads), null);
  assert.deepEqual([...inBuckets(Float64Array.of(1, 2, 3, 4, 5), {moments: 2, count: 3})], [3, 7, 5]);
  assert.deepEqual(bucketsFor({...head, moments: 8000}, 800), {moments: 20, count: 400});
});

test('safepoints that are known by the second only are what the pauses of the collector do not account for', () => {
  const head = {...recording.head, moments: 30, moment_ns: 100};
  const of = (more: Parameters<typeof encodeColumns>[0]) => pauseSeries(head, new Columns(encodeColumns(more)));
  const both = of({pause_begin: {differences: [100, 950]}, pause_length: [50, 100], pause_kind: [1, 1],
    safepoint_at: {differences: [0, 1000, 2000]}, safepoint_length: [1000, 1000, 1000], safepoint_count: [3, 1, 0], safepoint_time: [60, 120, 0]})!;
  // The second pause has ended, and was counted, in the second interval.
  assert.deepEqual(both.layers.map(({label, values}) => [label, Math.round(sum(values))]), [['paused by the collector', 150], ['other safepoints', 30]]);
  near(both.layers[1]!.values[3]!, 1);
  near(both.layers[1]!.values[13]!, 2);
  assert.equal(both.layers[1]!.values[23], 0);
  assert.equal(both.source, 'counters of the JVM');
  // One that has lasted longer than the interval in which it ended has begun before that.
  const long = of({safepoint_at: {differences: [0, 1000]}, safepoint_length: [1000, 1000], safepoint_count: [1, 0], safepoint_time: [0, 1500]})!;
  assert.deepEqual([long.layers[0]!.values[4], long.layers[0]!.values[5], long.layers[0]!.values[19]], [0, 100, 100]);
  assert.equal(of({safepoint_at: {differences: [0]}, safepoint_length: [1000], safepoint_count: [0], safepoint_time: [0]}), null);
});

test('without the kernel\u2019s account CPU is by samples, by kinds of threads', () => {
  const {profile, threads: table} = decoded([
    {thread: 'main', stack: ['a'], ns: 300, moment: 1}, {thread: 'G1', stack: ['b'], ns: 50, moment: 3}], {kinds: {G1: 1}, osIds: {main: 1, G1: 2}});
  const head = recordingOf({moments: profile.moments!.count, moment_ns: 100}, table, {}).head;
  const series = cpuSeries(head, null, profile, table)!;
  assert.deepEqual(series.layers.map(({label, values}) => [label, sum(values)]), [['app', 300], ['gc', 50]]);
  assert.equal(series.layers[0]!.values[1], 300);
  const rows = kindRows(laneData(table, profile, null, null), {from: 300, to: 400}, 100);
  assert.deepEqual(rows.map(({kind, cpu}) => [kind, cpu]), [['gc', 50], ['app', 0]]);
});

test('of a comparison, what changed most comes first', () => {
  const {profile} = decoded([
    {thread: 'main', stack: ['same'], ns: 400, before: 400}, {thread: 'main', stack: ['gone'], ns: 0, before: 300},
    {thread: 'main', stack: ['slower'], ns: 600, before: 300}, {thread: 'main', stack: ['fresh'], ns: 100, before: 0}]);
  assert.deepEqual(changedMost(profile, 3), [
    {name: 'gone', before: 300, after: 0}, {name: 'slower', before: 300, after: 600}, {name: 'fresh', before: 0, after: 100}]);
});

test('the heat map holds every moment once', () => {
  const head = recordingOf({moments: 1000, moment_ns: 10e6, duration_ns: 10e9}, threads, {}).head;
  const values = Float64Array.from({length: 1000}, (_, i) => i + 1);
  const map = heatMap(head, values)!;
  assert.equal(map.columns, 10);
  assert.equal(map.rows, 50);
  near(sum(map.values), sum(values));
  const seen = new Uint8Array(1000);
  for (let c = 0; c < map.columns; c++) {
    for (let r = 0; r < map.rows; r++) {
      const {first, end} = cellMoments(map, 1000, c, r);
      for (let m = first; m < end; m++) seen[m]!++;
      near(map.values[c * map.rows + r]!, sum(values.subarray(first, end)));
    }
  }
  assert.ok(seen.every((times) => times === 1));
  assert.equal(heatMap({...head, moments: 2}, values.subarray(0, 2)), null);
  const long = heatMap({...head, moments: 8000, moment_ns: 500e6}, new Float64Array(8000))!;
  assert.ok(long.columns <= 240 && long.rows >= 10, `${long.columns} x ${long.rows}`);
});

test('taken is written and dropped, and what is missing is said', () => {
  const engine = {name: 'cpu', mechanism: 'perf', why: '', interval_ns: 1, interval_bytes: 0, taken: 100, written: 90, failed: 2, dropped: {'ring full': 7, never: 0}};
  const account = accountOf(engine);
  assert.equal(account.dropped, 7);
  assert.equal(account.unexplained, 3);
  assert.deepEqual(account.pieces.map(({label, amount}) => [label, amount]), [['written', 90], ['ring full', 7], ['not accounted for', 3]]);
  const head = recordingOf({duration_ns: 10e9, cpus: 4, overhead: {app_threads_ns: 1e9, background_ns: 1e9}}, threads, {}).head;
  assert.deepEqual(costOf(head, 20e9), {app: 1e9, background: 1e9, ofTime: 0.2, ofMachine: 0.05, ofCpu: 0.1});
  const profile = {name: 'cpu', unit: 'ns', what: '', samples: {count: 9, failed: 1, imprecise: 0, truncated: 0}, unsampled_ns: {}};
  assert.equal(stacksOf(profile), null);
  const stacks = stacksOf({...profile, quality: {samples: 9, complete: 8, failed: {walk: 1, other: 0}, by_mechanism: {plain: 3, anchor: 6}, native: null}})!;
  assert.deepEqual(stacks.failed, [['walk', 1]]);
  assert.deepEqual(stacks.mechanisms, [['anchor', 6], ['plain', 3]]);
  assert.equal(stacks.native, null);
});
