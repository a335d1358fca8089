// From the start of `tarsier view FILE` until its flame graph has been painted, in a browser that is open already.
// Prints the seconds, and what part of the recording the first graph is of.
//
//   node test/browser/first_flame.mjs CHROMIUM TARSIER FILE
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {createInterface} from 'node:readline';
import {chromium} from 'playwright-core';

const [executablePath, tarsier, file] = process.argv.slice(2);
const folder = mkdtempSync(`${tmpdir()}/tarsier-first-`);
const context = await chromium.launchPersistentContext(folder, {
  executablePath, viewport: {width: 1280, height: 800},
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync'],
});
let view;
try {
  const page = await context.newPage();
  const began = performance.now();
  view = spawn(tarsier, ['view', '--no-open', file], {stdio: ['ignore', 'pipe', 'inherit']});
  const address = await new Promise((found, missing) => {
    createInterface({input: view.stdout}).once('line', found);
    view.once('exit', (code) => missing(new Error(`tarsier view ended with ${code}`)));
  });
  await page.goto(`${address.trim()}#view=flame`, {waitUntil: 'commit'});
  await page.waitForSelector('#flame', {timeout: 60_000});
  // The frame that shows it has been painted when the one after it begins.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const seconds = (performance.now() - began) / 1000;
  const part = await page.evaluate(() => document.querySelector('.reading')?.textContent ?? 'all of it');
  console.log(JSON.stringify({seconds, part}));
} finally {
  view?.kill();
  await context.close();
  rmSync(folder, {recursive: true, force: true});
}
