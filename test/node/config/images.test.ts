// From where a node fetches images: nothing, unless its operator says so.
import t from 'tap';
import { ConfigError } from '../../../src/node/config/problems.ts';
import { LEAST, read } from './sample.ts';

const engine = (settings: string) =>
  read(`${LEAST}\ndocker-engine { execution-limits.timeout = 100ms, ${settings} }`);
const warned = async (settings: string) =>
  (await engine(settings)).warnings.filter((one) => one.includes('allowed-images'));

t.test('a node that fetches from nowhere says so', async (t) => {
  t.match(await warned('enable = yes'), [/remote-registries and allowed-images are empty/]);
  t.same(await warned('enable = no'), []);
  t.same(await warned('enable = yes, pull = never'), []);
  t.same(await warned('enable = yes, allowed-images = ["a.org/*"]'), []);
  t.same(await warned('enable = yes, remote-registries = [{ domain = "a.org:5000" }]'), []);
  t.equal((await warned('enable = yes, default-registry-domain = a.org')).length, 1);
});

t.test('names of registries and images', async (t) => {
  const wrong = async (settings: string) => {
    try {
      await engine(settings);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems.map(({ key, fix }) => `${key}: ${fix}`);
    }
  };
  for (const domain of ['https://a.org', 'a.org/team', 'user@a.org', '', 'a.org:', '*.org']) {
    t.match(await wrong(`remote-registries = [{ domain = "${domain}" }]`), [/domain.*a.*example/]);
  }
  t.match(await wrong('default-registry-domain = "https://a.org"'), [/^docker-engine.default-reg/]);
  for (const image of ['', 'a.org:*/x', 'a.org/', 'https://a.org/*', 'a.org/x:']) {
    t.match(await wrong(`allowed-images = ["${image}"]`), [/allowed-images.*: for example/]);
  }
  t.same(await wrong('allowed-images = ["*.a.org/team/*:1.*", "team/*"]'), []);
});
