// Every setting is read by some code, or its documentation says that it has no effect.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { configurationPage } from '../../../scripts/reference/configuration-page.ts';
import { exampleConfig } from '../../../src/node/config/document.ts';
import { camel } from '../../../src/node/config/setting.ts';
import { allSettings } from '../../../src/node/config/settings.ts';
import { LEAST, read } from './sample.ts';

const SOURCES = join(import.meta.dirname, '../../../src');
const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/config\/(.*-)?settings\.ts$/.test(name))
  .map((name) => new Set(readFileSync(join(SOURCES, name), 'utf8').match(/\w+/g)));

const nameOf = (key: string): string => camel(key.split('.').at(-1)!);

/** Whether some file names the setting, and its section where several settings have that name. */
function isRead(key: string): boolean {
  const isShared = allSettings.filter((one) => nameOf(one.key) === nameOf(key)).length > 1;
  const names = key
    .split('.')
    .map(camel)
    .slice(isShared ? -2 : -1);
  return sources.some((words) => names.every((name) => words.has(name)));
}

t.test('every setting without effect is marked, and only those', async (t) => {
  for (const { key, setting } of allSettings) {
    // Read through the table of settings, by the key of the transaction type.
    if (key.startsWith('blockchain.fees.')) continue;
    if (setting.ignored !== true) t.ok(isRead(key), `${key} is read`);
  }
});

t.test('whoever sets one without effect is told, and nobody else', async (t) => {
  const { warnings } = await read(
    `${LEAST}\nnetwork { tx-buffer-size = 7, port = 8 }\nprivacy.cache.max-size = 9`,
  );
  t.strictSame(
    warnings.filter((one) => one.includes('has no effect')),
    [
      'node.conf:6: network.tx-buffer-size has no effect in this node',
      'node.conf:7: privacy.cache.max-size has no effect in this node',
    ],
  );
  const ignored = allSettings.filter(({ setting }) => setting.ignored === true);
  for (const { key } of ignored) {
    const row = configurationPage()
      .split('\n')
      .find((line) => line.startsWith(`| \`${key}\``));
    t.match(row, /without effect/, key);
  }
  const example = exampleConfig().replace(/\n *# /g, ' ');
  t.equal(example.match(/without effect/g)?.length, ignored.length);
});
