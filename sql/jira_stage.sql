-- Where the issues of a tracker wait until all pages are there. Gone with the transaction.
CREATE TEMP TABLE IF NOT EXISTS stage_issue (
    file_no int, seq bigint, key text, project_key text, project_name text, project text, summary text, issue_type text,
    status text, status_category text, team text, cost_centre text, assignee text, labels jsonb,
    created timestamptz, updated timestamptz, resolved timestamptz
) ON COMMIT DROP
