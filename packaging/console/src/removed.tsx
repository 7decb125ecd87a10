// SPDX-License-Identifier: Apache-2.0
// Jobs that have been removed. Nothing runs under their names until they are restored.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useGet } from './api';
import { give, SelectionBar } from './command';
import { allowed, at, toRemovedJobs, type RemovedJob } from './data';
import { actionsOnJobs } from './jobs';
import { hrefTo } from './store';
import { listed, Table, type Column } from './table';
import { Time } from './ui';
import { words } from './words';

export function RemovedPage(): JSX.Element {
  const t = words();
  const asked = useGet<unknown>(at('removed-jobs'));
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const done = () => {
    setSelected(new Set());
    asked.again();
  };
  const columns: Column<RemovedJob>[] = [
    { id: 'name', title: t.name, width: 'minmax(160px,2fr)', cell: (r) => r.name },
    { id: 'since', title: t.removedAt, width: 'minmax(170px,1fr)', cell: (r) => <Time at={r.since} distance /> },
    {
      id: 'audit',
      title: t.audit,
      isNameless: true,
      width: '90px',
      end: true,
      cell: (r) => <a href={hrefTo(['audit'], { job: r.name })}>{t.audit}</a>,
    },
  ];
  return (
    <>
      <div class="head">
        <nav aria-label={t.jobs}>
          <a href={hrefTo(['jobs'])}>{t.jobs}</a> <span aria-hidden="true">/</span>
        </nav>
        <h1>{t.removedJobs}</h1>
      </div>
      <p class="muted">{t.removedHint}</p>
      <Table
        label={t.removedJobs}
        columns={columns}
        rows={listed(toRemovedJobs(asked.body), asked.fault?.message, asked.busy)}
        keyOf={(r) => r.name}
        {...(allowed('add_job') ? { selected, select: setSelected } : {})}
        compact={(r) => (
          <div class="compact">
            <div>
              <span class="cut">{r.name}</span>
              <a href={hrefTo(['audit'], { job: r.name })}>{t.audit}</a>
            </div>
            <div class="small muted">
              <Time at={r.since} distance />
            </div>
          </div>
        )}
      />
      <SelectionBar
        count={selected.size}
        clear={() => setSelected(new Set())}
        all={actionsOnJobs(t, ['restore'], (a) => give({ ...a, subjects: [...selected].sort(), done }))}
      />
    </>
  );
}
