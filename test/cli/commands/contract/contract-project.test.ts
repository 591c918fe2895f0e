// `contract init`: projects that are examples under another name.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import packageJson from '../../../../package.json' with { type: 'json' };
import { projectName } from '../../../../src/cli/commands/contract/contract-project.ts';
import { run } from '../../run.ts';

const examples = join(import.meta.dirname, '../../../../examples');
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

t.test('a project for each template', async (t) => {
  const folder = t.testdir();
  for (const template of ['shell', 'typescript']) {
    const { code, stdout, stderr } = await run(
      ['contract', 'init', template, '--template', template],
      {
        cwd: folder,
      },
    );
    t.equal(code, 0, stderr);
    t.match(JSON.parse(stdout), { name: template, template, folder: join(folder, template) });
    t.match(stderr, new RegExp(`Next: platform-node contract build ${template}`));
    t.strictSame(filesIn(join(folder, template)), filesIn(join(examples, template)));
  }
  t.equal(statSync(join(folder, 'shell/run.sh')).mode & 0o111, 0o111);
});

t.test('its package has its name, and the tools of this release', async (t) => {
  const folder = t.testdir();
  t.equal((await run(['contract', 'init', 'My Points'], { cwd: folder })).code, 0);
  const manifest = JSON.parse(readFileSync(join(folder, 'My Points/package.json'), 'utf8'));
  t.equal(manifest.name, 'my-points');
  t.strictSame(manifest.devDependencies, {
    '@types/node': packageJson.devDependencies['@types/node'],
    typescript: packageJson.devDependencies.typescript,
  });
  const again = await run(['contract', 'init', 'My Points'], { cwd: folder });
  t.equal(again.code, 1);
  t.match(again.stderr, /My Points is not empty/);
});

t.test('names', async (t) => {
  t.equal(projectName('/tmp/points'), 'points');
  t.equal(projectName('/tmp/_A b.C_/'), 'a-b-c');
  t.equal(projectName('/'), 'contract');
});

t.test('wrong usage', async (t) => {
  t.equal((await run(['contract', 'init'])).code, 2);
  const other = await run(['contract', 'init', 'x', '--template', 'cobol']);
  t.equal(other.code, 2);
  t.match(other.stderr, /Allowed choices are shell, typescript/);
});
