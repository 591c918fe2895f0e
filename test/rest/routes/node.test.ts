// What the node says about itself, and its end.
import t from 'tap';
import { exchangeJson } from '../fixtures/exchange-json.ts';
import { memoryNode } from '../fixtures/memory-node.ts';

const GENESIS_TIME = 1_500_000_000_000;
const whole = await memoryNode(t, { genesisTime: GENESIS_TIME });
const { get, serve, apiKey: API_KEY } = whole;
const { services } = whole.node;

t.test('the node', async (t) => {
  let stopped = 0;
  const node = { ...services.node, stop: () => void stopped++, problem: () => 'disk' };
  const running = await serve({ node });
  const status = await exchangeJson('GET', `${running}/node/status`);
  t.strictSame([status.status, status.body], [503, { error: 640, message: 'disk' }]);
  const headers = { 'X-API-Key': API_KEY };
  const stop = await exchangeJson('POST', `${running}/node/stop`, headers, '');
  t.strictSame(stop.body, { stopped: true });
  t.equal(stopped, 0, 'the answer leaves first');
  await whole.clock.advance(1);
  t.equal(stopped, 1);
  t.match((await get('/node/status')).body, { updatedDate: '2017-07-14T02:40:00.000Z' });
});
