// Compiles the browser tests and runs them with Chromium. Without a Chromium they are skipped, and that is said.
import {spawnSync} from 'node:child_process';
import {existsSync, readdirSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const chromium = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .find((path) => path && existsSync(path));
if (!chromium) {
  console.log('SKIPPED: the page was not tried in a browser: no Chromium in /usr/bin (script/bootstrap installs it; ' +
              'CHROMIUM=path names another)');
  process.exit(0);
}
const ui = fileURLToPath(new URL('../..', import.meta.url));
const wanted = process.argv.slice(2); // names of files, without .test.ts; none: all
const tests = readdirSync(`${ui}/test/browser`).filter((name) => name.endsWith('.test.ts'))
  .filter((name) => wanted.length === 0 || wanted.includes(name.replace('.test.ts', '')));
const out = `${ui}/dist/test/browser`;
await build({
  entryPoints: tests.map((name) => `${ui}/test/browser/${name}`),
  outdir: out,
  outExtension: {'.js': '.mjs'},
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node18',
  external: ['playwright-core'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
});
// One after the other: each has a browser of its own.
let failed = 0;
for (const name of tests) {
  const {status} = spawnSync(process.execPath, ['--test', `${out}/${name.replace(/\.ts$/, '.mjs')}`],
    {stdio: 'inherit', cwd: ui, env: {...process.env, CHROMIUM: chromium}});
  failed ||= status ?? 1;
}
process.exit(failed);
