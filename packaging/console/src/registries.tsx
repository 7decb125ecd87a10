// SPDX-License-Identifier: Apache-2.0
// The registries and event databases that the server's configuration names.
import type { JSX } from 'preact';
import { databases, me, registries } from './data';
import { place, useCell } from './store';
import { Chip } from './ui';
import { words } from './words';

export function RegistriesPage(): JSX.Element {
  const t = words();
  const here = useCell(place);
  const all = useCell(registries);
  const stores = useCell(databases);
  const who = useCell(me);
  return (
    <>
      <div class="head">
        <h1>{t.registries}</h1>
      </div>
      <p class="muted">{t.definedByServer}</p>
      <div class="cards">
        <section class="card">
          <h2>{t.registries}</h2>
          <div class="scroll">
            <table class="list">
              <thead>
                <tr>
                  <th scope="col">{t.name}</th>
                  <th scope="col">{t.state}</th>
                  <th scope="col">{t.nameSpace}</th>
                </tr>
              </thead>
              <tbody>
                {all.map((r) => (
                  <tr key={r.name}>
                    <td>
                      {r.name === here.registry ? (
                        <b>{r.name}</b>
                      ) : (
                        <a href={'#/' + encodeURIComponent(r.name) + '/jobs'}>{r.name}</a>
                      )}{' '}
                      {r.name === here.registry && <span class="muted">({t.current})</span>}
                    </td>
                    <td>
                      {r.isConnected === undefined ? (
                        '–'
                      ) : (
                        <Chip tone={r.isConnected ? 'good' : 'bad'}>
                          {r.isConnected ? t.connected : t.notConnected}
                        </Chip>
                      )}
                    </td>
                    <td>{r.nameSpace || '–'}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
        <section class="card">
          <h2>{t.databases}</h2>
          {stores.length ? (
            <ul>
              {stores.map((d) => (
                <li key={d}>{d}</li>
              ))}
            </ul>
          ) : (
            <p class="muted">{t.noDatabase}</p>
          )}
        </section>
        <section class="card">
          <h2>{t.facts}</h2>
          <dl class="facts">
            <dt>{t.operator}</dt>
            <dd>{who.name || '–'}</dd>
            <dt>{t.version}</dt>
            <dd>{who.version || '–'}</dd>
          </dl>
          {who.verbs && !who.verbs.length && <p>{t.readOnly}</p>}
        </section>
      </div>
    </>
  );
}
