import assert from 'node:assert/strict';
import test from 'node:test';
import {clipped, visibleText} from '../src/data/visible_text';
import {CLASS, frameTypeOf} from '../src/model/frame_types';
import {cachedMeasure, fitLabel} from '../src/flame/label';
import {layoutFlame, neighbour, rectangleAt, rectangleOf} from '../src/flame/layout';
import {bytes, duration, interval, share} from '../src/model/format';
import {profileOf, type StackSpec} from './encode';
import {merged, serverLike, SMALL} from './sample';

const treeOf = (stacks: readonly StackSpec[]) =>
  merged(profileOf(stacks));

test('widths are shares: what is drawn in a row never exceeds its caller', () => {
  const tree = treeOf(serverLike(2000));
  const layout = layoutFlame(tree, 0, 1000, 0.5);
  for (let row = 1; row < layout.rows; row++) {
    for (let i = layout.rowStart[row]!; i < layout.rowStart[row + 1]!; i++) {
      const parent = rectangleOf(layout, tree, tree.parent[layout.node[i]!]!);
      assert.ok(layout.left[i]! >= layout.left[parent]! - 0.01 && layout.right[i]! <= layout.right[parent]! + 0.01);
      if (i > layout.rowStart[row]!) assert.ok(layout.left[i]! >= layout.right[i - 1]! - 0.01);
      assert.ok(layout.right[i]! - layout.left[i]! >= 0.49);
    }
  }
});

test('a thousand slivers are drawn as one block, not as a hole', () => {
  const tree = treeOf(Array.from({length: 10_000}, (_, i) => ({thread: 'm', stack: [`A.f${i}|c2`], ns: 1e6})));
  const layout = layoutFlame(tree, 0, 1000, 0.5);
  assert.equal(layout.node.length, 2);
  assert.deepEqual([layout.left[1], layout.right[1], layout.isRest[1]], [0, 1000, 1]);
});

test('the focus fills the width and its callers stay below it', () => {
  const tree = treeOf(SMALL);
  const layout = layoutFlame(tree, 3, 400, 0.5); // app.Json.parse below app.Orders.load
  assert.deepEqual([...layout.node], [0, 1, 2, 3, 4]);
  assert.deepEqual([...layout.left], [0, 0, 0, 0, 0]);
  assert.deepEqual([...layout.right], [400, 400, 400, 400, 100]);
});

test('a point finds its rectangle', () => {
  const tree = treeOf(SMALL);
  const layout = layoutFlame(tree, 0, 1000, 0.5);
  const nodeAt = (row: number, x: number): number => {
    const found = rectangleAt(layout, row, x);
    return found < 0 ? -1 : layout.node[found]!;
  };
  assert.equal(nodeAt(1, 0), 1);
  assert.equal(nodeAt(1, 599), 1);
  assert.equal(nodeAt(1, 601), 8);
  assert.equal(nodeAt(4, 50), 4);
  assert.equal(nodeAt(4, 300), -1);
  assert.equal(nodeAt(-1, 5), -1);
  assert.equal(nodeAt(99, 5), -1);
});

test('arrows walk to callers, callees and neighbours, and stop at the edges', () => {
  const tree = treeOf(SMALL);
  const layout = layoutFlame(tree, 0, 1000, 0.5);
  assert.equal(neighbour(layout, tree, 0, 'callee'), 1);
  assert.equal(neighbour(layout, tree, 1, 'next'), 8);
  assert.equal(neighbour(layout, tree, 8, 'previous'), 1);
  assert.equal(neighbour(layout, tree, 1, 'previous'), 1);
  assert.equal(neighbour(layout, tree, 8, 'caller'), 0);
  assert.equal(neighbour(layout, tree, 0, 'caller'), 0);
  assert.equal(neighbour(layout, tree, 4, 'callee'), 4);
});

test('labels lose the package first, then the class, then the end', () => {
  const measure = cachedMeasure((text) => text.length * 10);
  const fit = (room: number) => fitLabel('org.example.Parser.next', 0, room, measure);
  assert.equal(fit(230), 'org.example.Parser.next');
  assert.equal(fit(229), 'Parser.next');
  assert.equal(fit(100), 'next');
  assert.equal(fit(39), '');
  assert.equal(fit(10), '');
  assert.equal(fitLabel('std::vector<int>::push_back', frameTypeOf('native'), 120, measure), 'std::vecto\u2026');
  assert.equal(fitLabel('java.util.HashMap$Node[]', CLASS, 120, measure), 'HashMap$No\u2026');
  assert.equal(fitLabel('x'.repeat(60_000), 0, 60, measure), 'xxxx\u2026');
});

test('invisible and turning characters are spelled out', () => {
  assert.equal(visibleText('app.Main.run'), 'app.Main.run');
  assert.equal(visibleText('a\u202eb'), 'a\\u{202e}b');
  assert.equal(visibleText('a\tb\u0000\u007f'), 'a\\u{9}b\\u{0}\\u{7f}');
  assert.equal(visibleText('a\u200bb\ufeff\u00ad\u2028'), 'a\\u{200b}b\\u{feff}\\u{ad}\\u{2028}');
  assert.equal(visibleText('\ud800'), '\\u{d800}');
  assert.equal(visibleText('z\u0301\u0301\u0301\u0301'), 'z\u0301\u0301\u2026');
  assert.equal(visibleText('gr\u00f6\u00dfe.\u65e5\u672c'), 'gr\u00f6\u00dfe.\u65e5\u672c');
  assert.equal(clipped('x'.repeat(60_000), 5), 'xxxxx\u2026 (60,000 characters)');
});

test('numbers read well', () => {
  const plain = (text: string): string => text.replace(/\u202f/g, ' ');
  assert.deepEqual([0, 12, 1500, 1.5e6, 45.6e6, 999e6, 1.234e9, 129e9, 5e12].map((ns) => plain(duration(ns))),
    ['0 s', '12 ns', '1.50 \u00b5s', '1.50 ms', '45.6 ms', '999 ms', '1.23 s', '129 s', '5,000 s']);
  assert.deepEqual([1e6, 10e6, 5e5].map((ns) => plain(interval(ns))), ['1 ms', '10 ms', '500 \u00b5s']);
  assert.deepEqual([[1, 3], [0, 5], [5, 5], [1, 1e6], [999, 1000], [1, 250], [1, 0]].map(([a, b]) => plain(share(a!, b!))),
    ['33.3 %', '0 %', '100 %', '< 0.01 %', '99.9 %', '0.40 %', '0 %']);
});

test('bytes are counted in 1024s', () => {
  assert.deepEqual([0, 1023, 1024, 1536, 512 * 1024, 3 * 1024 ** 3].map((n) => bytes(n).replace('\u202f', ' ')),
    ['0 bytes', '1,023 bytes', '1.00 kB', '1.50 kB', '512 kB', '3.00 GB']);
});
