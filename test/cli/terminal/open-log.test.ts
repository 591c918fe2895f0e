// The log of a signer has a file of its own, also where its configuration is a copy of that of the node.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openLog } from '../../../src/cli/terminal/open-log.ts';
import type { Config } from '../../../src/node/config/settings.ts';

t.test('a node and its signer', async (t) => {
  const path = join(t.testdir(), 'node.log');
  const logFile = { path, maxSize: 65_536, files: 2 };
  const config = { logFormat: 'json', loggingLevel: 'INFO', logFile } as Config;
  const logs = [openLog(config), openLog(config, '.signer')] as const;
  logs[0].info('node.stopped');
  logs[1].info('signer.stopped');
  for (const log of logs) await log.close();
  t.match(readFileSync(path, 'utf8'), /^\{.*"event":"node.stopped"\}\n$/);
  t.match(readFileSync(`${path}.signer`, 'utf8'), /^\{.*"event":"signer.stopped"\}\n$/);
});
