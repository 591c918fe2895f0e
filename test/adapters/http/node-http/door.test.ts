// A door that was closed opens again on the same port, for the app that comes then.

import t from 'tap';
import { request } from 'undici';
import { freePort } from '../../../../src/adapters/http/free-port.ts';
import { native } from '../../../../src/adapters/http/listener.ts';
import { nodeListener } from '../../../../src/adapters/http/node-http/app.ts';

const HOST = '127.0.0.1';

for (const [name, listener] of Object.entries({ node: nodeListener, ...(native && { native }) })) {
  t.test(`a door opens again: ${name}`, async (t) => {
    const port = await freePort(HOST, 0);
    const door = listener.portDoor(HOST, port);
    const app = (text: string) => {
      const made = listener.createApp(undefined);
      made.any('/*', (response) => void response.end(text, true));
      t.teardown(() => made.close());
      return made;
    };
    const answer = async (): Promise<string> =>
      (await request(`http://${HOST}:${port}/`)).body.text();
    await door.open(app('first'));
    t.equal(await answer(), 'first');
    await door.open(app('second'));
    t.equal(await answer(), 'second', 'a new app takes its place');
    door.close();
    door.close();
    await t.rejects(answer());
    await door.open(app('third'));
    t.equal(await answer(), 'third');
    door.close();
  });
}
