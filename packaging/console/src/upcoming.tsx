// SPDX-License-Identifier: Apache-2.0
// When which job is due next, over all jobs.
import type { JSX } from 'preact';
import { usePages } from './api';
import { upcomingPage, type Due } from './data';
import { useFreshRows } from './live';
import { changeQuery, go, hrefTo, place, useCell } from './store';
import { FilterField, Table } from './table';
import { Time } from './ui';
import { words } from './words';

const ranges = ['1', '6', '24', '168'];

export function UpcomingPage(): JSX.Element {
  const t = words();
  const here = useCell(place);
  const name = here.query.get('name') ?? '';
  const hours = ranges.includes(here.query.get('hours') ?? '') ? here.query.get('hours')! : '24';
  const rows = usePages<Due>(JSON.stringify([here.registry, name, hours]), (cursor, signal) =>
    upcomingPage({ name, hours: Number(hours), after: cursor }, signal),
  );
  useFreshRows(undefined, rows);
  return (
    <>
      <div class="head">
        <h1 class="grow">{t.upcoming}</h1>
        <span class="narrow-only">
          <FilterField id="filter" title={t.name} filter="text" value={name} change={(v) => changeQuery({ name: v })} />
        </span>
        <div class="row" role="group" aria-label={t.range}>
          {ranges.map((h) => (
            <button type="button" key={h} aria-pressed={h === hours} onClick={() => changeQuery({ hours: h })}>
              {t.hours(Number(h))}
            </button>
          ))}
          <button type="button" class="plain" onClick={rows.again}>
            {t.refresh}
          </button>
        </div>
      </div>
      <Table
        label={t.upcoming}
        rows={rows}
        keyOf={(d) => d.job + d.due}
        open={(d) => go(['jobs', d.job])}
        filters={{ job: name }}
        filter={(_, value) => changeQuery({ name: value })}
        columns={[
          {
            id: 'due',
            title: t.due,
            width: 'minmax(230px,1fr)',
            cell: (d) => <Time at={d.due} zone={d.zone} distance />,
          },
          {
            id: 'job',
            title: t.job,
            width: 'minmax(180px,1.5fr)',
            filter: 'text',
            cell: (d) => (
              <a href={hrefTo(['jobs', d.job])} tabIndex={-1}>
                {d.job}
              </a>
            ),
          },
          { id: 'zone', title: t.zone, width: 'minmax(100px,.7fr)', from: 800, cell: (d) => d.zone || '–' },
        ]}
        compact={(d) => (
          <div class="compact">
            <div>
              <a class="cut" href={hrefTo(['jobs', d.job])} tabIndex={-1}>
                {d.job}
              </a>
            </div>
            <div class="small">
              <Time at={d.due} zone={d.zone} distance />
            </div>
          </div>
        )}
      />
      <div class="small muted" role="status">
        {t.loaded(rows.rows.length, rows.total, rows.complete)}
      </div>
    </>
  );
}
