// Refusals as answers.
import t from 'tap';
import { apiError } from '../../src/base/errors.ts';
import { refusal } from '../../src/rest-framework/answer.ts';
import { memoryLog } from '../node/memory-ports.ts';

t.test('a refusal that may pass says when to come back', async (t) => {
  const log = memoryLog();
  const headers = (error: Error) => refusal(error, log, { where: 'a test', request: 'r' }).headers;
  t.strictSame(headers(apiError('Overloaded')), [['retry-after', '1']]);
  t.strictSame(headers(apiError('StatusCheckFailed', 'why')), [['retry-after', '1']]);
  t.strictSame(headers(apiError('Invalid', 'why')), []);
});
