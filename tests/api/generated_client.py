"""The flow of a job with the client generated from our OpenAPI document: base address and token as arguments."""

import sys
import urllib.request

from platen_client import AuthenticatedClient
from platen_client.api.documents import immediate_render, init_document, render_document
from platen_client.api.health import live, ready
from platen_client.api.jobs import get_job, list_jobs
from platen_client.models import (
    FormatOpts,
    ImmediateRequest,
    ImmediateRequestDataType0,
    InitRequest,
    Problem,
    StartRequest,
    Status,
    Target,
    TemplateType,
)


def put(url, body):
    request = urllib.request.Request(url, data=body.encode(), method="PUT")
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


def fetch(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()


base, token = sys.argv[1:]
client = AuthenticatedClient(base_url=f"{base}/v1", token=token, raise_on_unexpected_status=True)
assert live.sync_detailed(client=client).status_code == 200
assert ready.sync_detailed(client=client).status_code == 200

wanted = InitRequest(type_=TemplateType.EJS, target=Target.PDF, format_opts=FormatOpts(landscape=True))
job = init_document.sync(client=client, body=wanted, idempotency_key="a key")
again = init_document.sync(client=client, body=wanted, idempotency_key="a key")
assert job.job_id == again.job_id
put(job.presigned_template_upload_url, "<p>Grüße, <%= name %></p>")
put(job.presigned_data_upload_url, '{"name": "Zoë"}')
started = render_document.sync(job.job_id, client=client, body=StartRequest(should_wait_for_render_completion=True))
view = get_job.sync(job.job_id, client=client, wait=30)
assert view.status == Status.DONE and view.success and started.job_id == view.job_id
assert fetch(view.output.data.url).startswith(b"%PDF")

data = ImmediateRequestDataType0.from_dict({"name": "Zoë"})
wanted = ImmediateRequest(type_=TemplateType.HTML, target=Target.HTML, template="<p><%= name %>", data=data)
document = immediate_render.sync(client=client, body=wanted)
assert "Zoë" in fetch(document.url).decode()

page = list_jobs.sync(client=client, limit=1, success=True, target=Target.PDF)
assert [item.job_id for item in page.items] == [job.job_id]
missing = get_job.sync("00000000-0000-7000-8000-000000000000", client=client)
assert isinstance(missing, Problem) and missing.code == "job_not_found"
print("the generated client did the flow")
