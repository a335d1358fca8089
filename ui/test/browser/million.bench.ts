// How long a frame takes on a flame graph of a million nodes: zooming, searching, a range of time.
//
//   npm run bench      (or: node test/browser/bench.mjs [NODES])
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {chromium, type Page} from 'playwright-core';
import {encodeThreads, fillPage, HEAD, Part, TYPES} from '../encode';

const NODES = Number(process.argv[2] ?? 1_000_000);
const THREADS = 40;
const METHODS = 20_000;
const MOMENTS = 2000;
const ROWS_BY_MOMENT = 1_000_000;

let seed = 1;
const random = (): number => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) / 0x7fffffff;

// Threads begin in methods of their own, so that merging them leaves a million nodes. Siblings have different names, and
// weights are spread evenly, so that every level is full of boxes: the worst case for drawing.
function profilePart(): Part {
  const names = Array.from({length: METHODS}, (_, i) => `org.example.module${i % 97}.Service${i % 811}.operation${i}`);
  const up: number[] = [];
  const name: number[] = [];
  const type: number[] = [];
  const self: number[] = [];
  const perThread: number[] = [];
  for (let thread = 0; thread < THREADS; thread++) {
    let before = -1; // the depth of the node before
    const began = up.length;
    const pending = [{depth: 0, budget: Math.floor(NODES / THREADS), method: thread}];
    for (let next = pending.pop(); next; next = pending.pop()) {
      const {depth, method} = next;
      up.push(before < 0 ? 0 : before + 1 - depth);
      before = depth;
      name.push(method);
      type.push(1 + Math.floor(random() * 4));
      const budget = next.budget - 1;
      self.push(budget <= 0 ? 1 : random() < 0.3 ? 1 : 0);
      const parts = budget <= 0 ? 0 : Math.min(budget, 1 + Math.floor(random() ** 2 * 5)); // chains are frequent
      for (let part = 0, left = budget; part < parts; part++) {
        const size = part === parts - 1 ? left : Math.min(left - (parts - 1 - part), Math.max(1, Math.floor((left / (parts - part)) * (0.5 + random()))));
        left -= size;
        pending.push({depth: depth + 1, budget: size, method: THREADS + ((method * 31 + part * 101 + depth * 7 + 17) % (METHODS - THREADS))});
      }
    }
    perThread.push(up.length - began);
  }
  const count = up.length;
  console.log(`${count.toLocaleString('en')} nodes`);
  const weighted = self.map((samples, node) => ({samples, node})).filter(({samples}) => samples > 0);
  const rows = Array.from({length: MOMENTS}, () => [] as number[]);
  for (let i = 0; i < Math.min(ROWS_BY_MOMENT, weighted.length); i++) rows[Math.floor(random() * MOMENTS)]!.push(weighted[i]!.node);
  const flat = rows.flat();
  return new Part().texts('types', TYPES).texts('names', names).numbers('thread', Array.from({length: THREADS}, (_, i) => i))
    .numbers('thread_nodes', perThread).numbers('up', up).numbers('node_name', name)
    .numbers('node_type', type).numbers('line', new Float64Array(count)).numbers('self', self.map((n) => n * 1e6))
    .numbers('samples', self).numbers('moment_rows', rows.map((list) => list.length)).numbers('moment_node', flat)
    .numbers('moment_self', flat.map((node) => self[node]! * 1e6)).numbers('moment_samples', flat.map((node) => self[node]!));
}

function writePage(path: string): void {
  const head = {...HEAD, title: 'a million nodes', moments: MOMENTS, moment_ns: 10e6, duration_ns: MOMENTS * 10e6, default_profile: 'cpu',
                parts: ['threads', 'profile-cpu'],
                profiles: [{name: 'cpu', unit: 'ns', what: 'CPU time', samples: {count: 1, failed: 0, imprecise: 0, truncated: 0}, unsampled_ns: {}}]};
  writeFileSync(path, fillPage(readFileSync('dist/page.html', 'utf8'), {
    head: new TextEncoder().encode(JSON.stringify(head)), 'profile-cpu': profilePart().take(),
    threads: encodeThreads(Array.from({length: THREADS}, (_, i) => `worker-${i}`)).take()}));
}

// From the input to the end of the frame that shows its effect.
const timed = (page: Page, act: string): Promise<number> => page.evaluate((code) => new Promise<number>((done) => {
  const began = performance.now();
  new Function(code)();
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - began);
    channel.port2.postMessage(0);
  });
}), act);

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const say = (what: string, values: number[]): void =>
  console.log(`${what.padEnd(34)} median ${median([...values]).toFixed(1).padStart(7)} ms, worst ${Math.max(...values).toFixed(1).padStart(7)} ms, ${values.length} times`);

const folder = mkdtempSync(`${tmpdir()}/tarsier-million-`);
const browser = await chromium.launch({executablePath: process.env['CHROMIUM']!, args: ['--headless', '--no-sandbox', '--disable-gpu']});
try {
  const path = `${folder}/million.html`;
  writePage(path);
  // new Function is forbidden by the page's policy, as it should be: only the measurement may.
  const context = await browser.newContext({bypassCSP: true, viewport: {width: 1920, height: 1080}});
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const began = Date.now();
  await page.goto(`file://${path}#view=flame`);
  await page.waitForSelector('#flame');
  await page.evaluate(() => new Promise(requestAnimationFrame));
  console.log(`opened: ${Date.now() - began} ms to the flame graph`);
  console.log(plain(await page.innerText('.view-tools')), '|', await page.evaluate(() => document.querySelector('#flame canvas')!.clientWidth), 'pixels wide');

  const canvas = "const c = document.querySelector('#flame canvas'); const b = c.getBoundingClientRect();";
  const click = (x: number, row: number): string => `${canvas} c.dispatchEvent(new MouseEvent('click', {bubbles: true, detail: 1,
    clientX: b.left + b.width * ${x}, clientY: b.bottom - ${row} * 18 - 9}));`;
  const zooms: number[] = [];
  const outs: number[] = [];
  for (let i = 0; i < 25; i++) {
    zooms.push(await timed(page, click((i % 7) / 10 + 0.05, 1 + (i % 5))));
    outs.push(await timed(page, "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));".replace('document.dispatch', 'document.body.dispatch')));
  }
  say('zoom in', zooms);
  say('zoom out', outs);

  const hovers: number[] = [];
  for (let i = 0; i < 40; i++) {
    hovers.push(await timed(page, `${canvas} c.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: b.left + b.width * ${i / 41}, clientY: b.bottom - ${1 + (i % 9)} * 18 - 9}));`));
  }
  say('hover', hovers);

  const type = (text: string): string => `const f = document.querySelector('.search input');
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(f, ${JSON.stringify(text)});
    f.dispatchEvent(new InputEvent('input', {bubbles: true}));`;
  const searches: number[] = [];
  for (const text of ['o', 'op', 'ope', 'oper', 'opera', 'operation1', 'operation12', 'service8', 'service81', 'module5', 'module', 'modul', 'x', 'nothing', 'operation77', 'operation777']) {
    searches.push(await timed(page, type(text)));
  }
  say('search, letter by letter', searches);
  console.log('found:', plain(await page.innerText('#search-result')));
  await timed(page, type(''));

  const ranges: number[] = [];
  for (let i = 0; i < 12; i++) ranges.push(await timed(page, `location.hash = 'view=flame&range=${i * 100}-${i * 100 + 400}'`));
  await page.waitForFunction(() => location.hash.includes('1500'));
  say('another range of time', ranges);
  for (const view of ['tree', 'methods', 'callers', 'ring']) {
    const times: number[] = [];
    for (let i = 0; i < 3; i++) {
      await timed(page, "location.hash = 'view=flame'");
      await page.waitForSelector('#flame');
      times.push(await page.evaluate((to) => new Promise<number>((done) => {
        const start = performance.now();
        location.hash = `view=${to}`;
        const look = (): void => (document.querySelector(`.views a[aria-current][href*="view=${to}"]`) !== null && document.querySelector('[data-main], .sides') !== null
          ? done(performance.now() - start) : void requestAnimationFrame(look));
        look();
      }), view));
    }
    say(`to the view ${view}`, times);
  }
} finally {
  await browser.close();
  rmSync(folder, {recursive: true, force: true});
}

function plain(text: string): string {
  return text.replace(/\u202f/g, ' ').replace(/\s+/g, ' ');
}
