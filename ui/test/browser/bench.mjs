// Compiles and runs million.bench.ts.
import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const CHROMIUM = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .find((path) => path && existsSync(path));
if (!CHROMIUM) throw new Error('no Chromium in /usr/bin; CHROMIUM=path names another');
const ui = fileURLToPath(new URL('../..', import.meta.url));
const out = `${ui}/dist/test/million.bench.mjs`;
await build({entryPoints: [`${ui}/test/browser/million.bench.ts`], outfile: out, bundle: true, platform: 'node', format: 'esm',
             target: 'node18', external: ['playwright-core'], logLevel: 'warning'});
process.exit(spawnSync(process.execPath, [out, ...process.argv.slice(2)], {stdio: 'inherit', cwd: ui, env: {...process.env, CHROMIUM}}).status ?? 1);
