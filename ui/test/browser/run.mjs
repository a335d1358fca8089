// Compiles the browser tests and runs them with Chromium. Without a Chromium they are skipped, and that is said.
import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
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
const out = `${ui}/dist/test/browser/page.test.mjs`;
await build({
  entryPoints: [`${ui}/test/browser/page.test.ts`],
  outfile: out,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node18',
  external: ['playwright-core'],
  logLevel: 'warning',
});
const {status} = spawnSync(process.execPath, ['--test', out], {stdio: 'inherit', cwd: ui, env: {...process.env, CHROMIUM: chromium}});
process.exit(status ?? 1);
