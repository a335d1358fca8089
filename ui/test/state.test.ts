import assert from 'node:assert/strict';
import test from 'node:test';
import {formatState, parseState} from '../src/shell/page_state';
import {binned, topOf} from '../src/shell/time_strip';
import {methodOf, methodText} from '../src/stacks/method_choice';
import {keysOfZoom, zoomText} from '../src/stacks/zoom_path';
import {nodeAtPath} from '../src/model/tree';
import {profileOf} from './encode';
import {merged, serverLike} from './sample';

test('a state comes back from its address', () => {
  const state = {view: 'tree', weight: 'alloc', range: {first: 3, end: 17}, thread: 'pa&b=c #1', query: '"x" %\u202e', isRegex: true,
                 more: {'tree.at': 'AbC-_', 'stacks.include': '/a|b/'}};
  assert.deepEqual(parseState(formatState(state)), state);
});

test('an address of anything is a state', () => {
  assert.equal(parseState('').view, 'overview');
  assert.equal(parseState('#view=<script>').view, 'overview');
  for (const range of ['5', '5-', '5-5', '9-3', '-1-4', '1e9-2e9', '99999999-999999999']) assert.equal(parseState(`#range=${range}`).range, null);
  assert.deepEqual(parseState('#__proto__=1&view=flame').more, {});
});

test('the link to a zoom holds when the recording is read anew', () => {
  const [before, after] = [profileOf(serverLike(2000)), profileOf([{thread: 'new', stack: ['B.g|c2'], ns: 1}, ...serverLike(2000)])];
  const [a, b] = [merged(before), merged(after)];
  for (let node = 1; node < a.count; node += 97) {
    const text = zoomText(before, a, node);
    assert.equal(nodeAtPath(a, keysOfZoom(before, text)), node);
    assert.equal(b.total[nodeAtPath(b, keysOfZoom(after, text))], a.total[node]);
  }
  assert.deepEqual(keysOfZoom(before, 'nonsense'), []);
});

test('the address of a stack of any depth stays short, and this page knows it still', () => {
  const profile = profileOf([{thread: 'm', stack: Array.from({length: 5000}, (_, i) => `A.f${i % 9}|c2`), ns: 1e9}]);
  const tree = merged(profile);
  const text = zoomText(profile, tree, 4000);
  assert.ok(text.length < 2000);
  assert.equal(nodeAtPath(tree, keysOfZoom(profile, text)), 4000);
});

test('methods are named by name, but for names that are too long', () => {
  const names = ['a.B.c', 'x'.repeat(60_000), '#1'];
  for (const i of [0, 1, 2]) assert.equal(methodOf(names, methodText(names, i)), i === 1 ? 2 : i);
  assert.equal(methodOf(['a', 'x'.repeat(1000)], '#1'), 1);
  assert.equal(methodOf(names, 'no'), -1);
  assert.equal(methodOf(names, '#99'), -1);
});

test('bins of the strip add up to everything', () => {
  assert.deepEqual([...binned(Float64Array.of(1, 2, 3, 4, 5), 5, 2)], [6, 9]);
  assert.deepEqual([...binned(Float64Array.of(1, 2), 2, 2)], [1, 2]);
  assert.deepEqual([...binned(new Float64Array(0), 10, 3)], [0, 0, 0]);
});

test('a moment far above all others does not make them flat', () => {
  assert.equal(topOf(Float64Array.of(1, 2, 3, 4)), 4);
  assert.equal(topOf(new Float64Array(3)), 0);
  assert.equal(topOf(Float64Array.from({length: 100}, (_, i) => (i === 7 ? 1000 : 10))), 15);
});
