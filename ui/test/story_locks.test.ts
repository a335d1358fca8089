import assert from 'node:assert/strict';
import test from 'node:test';
import {Columns} from '../src/data/columns';
import {aspectsOf, labelOf, type Aspect} from '../src/locks/aspects';
import {blameGraph, casesOf} from '../src/locks/blame';
import {contentionsOf, EVERYTHING, type Contentions, type Cut} from '../src/locks/contentions';
import {lockTree, nodeAt, pathOf, type LockTree} from '../src/locks/lock_tree';
import {percentiles} from '../src/locks/spread';
import {CONTENTIONS, encodeLocks, recordingOf, threadsNamed, type ContentionSpec} from './story_sample';

const threads = threadsNamed(['t0', 't1', 't2']);
const recording = recordingOf({}, threads, {});
const decode = (specs: readonly ContentionSpec[]): Contentions => contentionsOf(new Columns(encodeLocks(specs)), recording);
const data = decode(CONTENTIONS);

interface Row {
  readonly label: string;
  readonly blocked: number;
  readonly times: number;
  readonly children?: readonly Row[];
}

function rows(tree: LockTree, node = 0): Row[] {
  if (tree.level[node] === tree.by.length) return [];
  return Array.from(tree.children(node), (child) => {
    const inner = rows(tree, child);
    return {label: labelOf(tree.data, threads, tree.by[tree.level[node]!]!, tree.key[child]!), blocked: tree.blocked[child]!,
            times: tree.times[child]!, ...(inner.length > 0 ? {children: inner} : {})};
  });
}
const treeOf = (by: readonly Aspect[], cut: Cut = EVERYTHING): LockTree => lockTree(data, threads, cut, by);

test('locks only, unless the group is asked for', () => {
  const tree = treeOf(['class']);
  assert.equal(tree.blocked[0], 375);
  assert.equal(tree.times[0], 4);
  assert.deepEqual([...tree.byGroup], [325, 50, 1000, 0]);
  assert.deepEqual([...tree.byOwner], [290, 50, 10, 25]);
  assert.deepEqual(rows(tree), [
    {label: 'app.Table', blocked: 325, times: 3},
    {label: 'java.util.concurrent.locks.ReentrantLock', blocked: 50, times: 1}]);
  const groups = treeOf(['group']);
  assert.equal(groups.blocked[0], 1375);
  assert.deepEqual(rows(groups).map((row) => row.label), ['condition', 'monitor', 'juc']);
});

test('a contention counts once in each owner, with the sum of its pieces', () => {
  assert.deepEqual(rows(treeOf(['blocked-method', 'owner-method'])), [
    {label: 'app.byNumber', blocked: 350, times: 3, children: [
      {label: 'app.byName', blocked: 260, times: 2},
      {label: '[no chain]', blocked: 50, times: 1},
      {label: 'app.byNumber', blocked: 30, times: 1},
      {label: '[hand-off]', blocked: 10, times: 1}]},
    {label: 'app.other', blocked: 25, times: 1, children: [{label: '[unknown owner]', blocked: 25, times: 1}]}]);
});

test('aspects in another order', () => {
  assert.deepEqual(rows(treeOf(['owner-thread', 'object', 'blocked-thread'])), [
    {label: 't2', blocked: 260, times: 2, children: [
      {label: 'app.Table@1', blocked: 260, times: 2, children: [
        {label: 't1', blocked: 200, times: 1}, {label: 't0', blocked: 60, times: 1}]}]},
    {label: 't1', blocked: 80, times: 2, children: [
      {label: 'java.util.concurrent.locks.ReentrantLock@2', blocked: 50, times: 1, children: [{label: 't0', blocked: 50, times: 1}]},
      {label: 'app.Table@1', blocked: 30, times: 1, children: [{label: 't0', blocked: 30, times: 1}]}]},
    {label: '[unknown owner]', blocked: 25, times: 1, children: [
      {label: 'app.Table@3', blocked: 25, times: 1, children: [{label: 't1', blocked: 25, times: 1}]}]},
    {label: '[hand-off]', blocked: 10, times: 1, children: [
      {label: 'app.Table@1', blocked: 10, times: 1, children: [{label: 't0', blocked: 10, times: 1}]}]}]);
});

test('chains are shown without the insides of locking', () => {
  const labels = rows(treeOf(['blocked-chain'])).map((row) => [row.label, row.times]);
  assert.deepEqual(labels, [['app.byNumber < app.run', 3], ['app.other < app.run', 1]]);
  assert.deepEqual(rows(treeOf(['after-wait'])).map((row) => row.label), ['not after wait', 'after wait']);
  assert.deepEqual(rows(treeOf(['group', 'object']))[0]!.children![0]!.label, '[no blocker]');
});

test('a part of the time cuts contentions and their pieces, as report --from --to does', () => {
  const tree = treeOf(['owner-thread'], {from: 130, to: 160, whole: false, isChosen: null, rows: null});
  assert.deepEqual(rows(tree), [
    {label: 't2', blocked: 20, times: 2}, {label: '[hand-off]', blocked: 10, times: 1}, {label: 't1', blocked: 10, times: 1}]);
  assert.equal(tree.times[0], 2);
  assert.equal(tree.blocked[0], 40);
  assert.equal(tree.longest[0], 30);
  assert.equal(treeOf(['class'], {from: 700, to: 900, whole: false, isChosen: null, rows: null}).blocked[0], 0);
});

test('only contentions of the chosen threads', () => {
  const tree = treeOf(['blocked-thread'], {...EVERYTHING, isChosen: (thread) => thread === 1});
  assert.deepEqual(rows(tree), [{label: 't1', blocked: 225, times: 2}]);
});

test('rows that stand for several count all of them', () => {
  const tree = lockTree(decode([
    {begin: 0, lock: 'A@1', thread: 0, chain: ['m'], more: 9, longest: 30, pieces: [{ns: 120}]},
    {begin: 5, lock: 'A@1', thread: 0, chain: ['m'], pieces: [{ns: 500}]}]), threads, EVERYTHING, ['class']);
  assert.equal(tree.times[1], 11);
  assert.equal(tree.blocked[1], 620);
  assert.equal(tree.longest[1], 500);
  assert.deepEqual(tree.spread(1), {p50: 10, p95: 500});
});

test('percentiles as the command counts them', () => {
  assert.deepEqual(percentiles(Float64Array.of(5, 1, 9), null, [0.5, 0.95]), [5, 9]);
  // Of more than 16 the middle of a class of 32 for each power of two, at most the longest: 1,000,000 ns is in
  // [999,424, 1,015,808), 1 s in [989,855,744, 1,006,632,960).
  const many = Float64Array.from({length: 100}, (_, i) => (i === 0 ? 1e9 : 1e6));
  assert.deepEqual(percentiles(many, null, [0.5, 1]), [1_007_615, 998_244_351]);
  assert.deepEqual(percentiles(Float64Array.from({length: 40}, (_, i) => i), null, [0.5, 0.95]), [19, 37]);
});

test('paths lead back to their nodes, and nowhere if there is none', () => {
  const tree = treeOf(['class', 'blocked-thread', 'owner-method']);
  for (let node = 1; node < tree.count; node++) assert.equal(nodeAt(tree, pathOf(tree, node)), node);
  assert.equal(nodeAt(tree, [77]), -1);
  assert.equal(nodeAt(tree, [0, 0, 0, 0, 0]), -1);
  assert.deepEqual(aspectsOf('owner-method,nonsense,class,owner-method'), ['owner-method', 'class']);
  assert.deepEqual(aspectsOf(''), ['class', 'blocked-method', 'owner-method']);
});

test('300,000 contentions are broken down by five aspects', () => {
  const frames = Array.from({length: 40}, (_, i) => `app.Class${i}.method`);
  const specs = Array.from({length: 300_000}, (_, i): ContentionSpec => ({
    begin: i * 1000, lock: `app.Lock${i % 7}@${i % 300}`, thread: i % 3, chain: [frames[i % 40]!, 'app.run'],
    pieces: [{ns: 500 + (i % 1000), thread: (i + 1) % 3, chain: [frames[(i * 7) % 40]!, 'app.run']}],
  }));
  const large = decode(specs);
  const by: Aspect[] = ['class', 'object', 'blocked-method', 'owner-thread', 'owner-method'];
  lockTree(large, threads, EVERYTHING, ['class']);
  const times = [0, 1, 2, 3, 4].map(() => {
    const began = performance.now();
    const tree = lockTree(large, threads, EVERYTHING, by);
    tree.children(0).forEach((node) => tree.spread(node));
    return performance.now() - began;
  });
  // How long it takes is said, but does not decide: machines differ.
  console.log(`# aggregation of 300,000 contentions: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  const tree = lockTree(large, threads, EVERYTHING, by);
  assert.equal(tree.times[0], 300_000);
  assert.equal(tree.children(0).reduce((sum, node) => sum + tree.blocked[node]!, 0), tree.blocked[0]);
});

test('the ways in which it happened, most time first, with a contention that is one', () => {
  const {cases, all, ns} = casesOf(data, EVERYTHING, ['class', 'blocked-method'], pathOf(treeOf(['class', 'blocked-method']), 1));
  assert.equal(ns, 325);
  assert.equal(all, 4);
  assert.deepEqual(cases[0], {row: 1, piece: 4, ns: 260, times: 2});
});

test('who blocks whom, by thread, by pool and by method', () => {
  const byThread = blameGraph(data, threads, EVERYTHING, ['class'], [], 'thread');
  assert.deepEqual(byThread.owners.map(({label, ns}) => [label, ns]), [['t2', 260], ['t1', 80], ['[unknown owner]', 25], ['[hand-off]', 10]]);
  assert.deepEqual(byThread.blocked.map(({label, ns}) => [label, ns]), [['t1', 225], ['t0', 150]]);
  assert.deepEqual(byThread.edges.slice(0, 2), [{owner: 0, blocked: 0, ns: 200, times: 1}, {owner: 1, blocked: 1, ns: 80, times: 2}]);
  const pools = blameGraph(data, threadsNamed(['t0', 't1', 't2'], [], ['pool', 'pool', '']), EVERYTHING, ['class'], [], 'pool');
  assert.deepEqual(pools.blocked.map(({label, ns}) => [label, ns]), [['pool', 375]]);
  const methods = blameGraph(data, threads, EVERYTHING, ['class'], [], 'method');
  assert.deepEqual(methods.edges[0], {owner: 0, blocked: 0, ns: 260, times: 2});
  assert.equal(methods.owners[0]!.label, 'app.byName');
});

test('of many nodes the last are one', () => {
  const many = Array.from({length: 50}, (_, i) => `w${i}`);
  const specs = many.map((_, i): ContentionSpec => ({begin: i, lock: 'A@1', thread: i, chain: ['m'], pieces: [{ns: 100 - i, thread: (i + 1) % 50}]}));
  const lots = threadsNamed(many);
  const graph = blameGraph(contentionsOf(new Columns(encodeLocks(specs)), recordingOf({}, lots, {})), lots, EVERYTHING, ['class'], [], 'thread');
  assert.equal(graph.blocked.length, 12);
  assert.equal(graph.blocked[11]!.label, '39 others');
  assert.equal(graph.edges.reduce((sum, edge) => sum + edge.ns, 0), graph.ns);
});
