"""Words that a user or a machine may be called, and that text about something else holds too."""

from __future__ import annotations

ORDINARY_WORDS = frozenset(
    """
    a able accelerate access account active ada address admin administrator agent all allocation
    amd amdgpu ampere and any apex app apple application apt arch arm art attention auto
    azureuser back backend base bash batch beam bert best bfloat16 big bill bin bios bit bits
    black blackwell block board boot bot box buffer bug build builder bus busy byte bytes cache
    call can capture card case cc cell center centos char check child chip claude clean click
    client clock cloud cluster cmake code coder col colab cold com command common compile
    compute conda config connect console container content context copy core count cpu create
    credentials cuda cudnn current custom daemon data dataset date day ddp debian debug deep
    default deploy desktop dev developer device devices diag dim direct dirty disk docker down
    driver drop dump ec2-user edge elastic email empty end engine entry env error errors etc
    event exe exec exit expert export extra face fail failed failure false fast fatal fault fd
    fedora fence file fill find first flash float float16 fly foo fork found free from fsdp ftp
    full function gate gcc get git global google gpu gpus gpuuser grace graph green grid group
    guest guide half hash head heap help hero hip home hook hopper host hot http https hub id
    illegal image import in index info infra init input int intel interface invalid io item jack
    java jean job john jovyan jump jupyter kepler kernel kernels key kill killed kind kube lab
    label lambda last launch layer lib library light lightning limit line linear link linux list
    live llama load local localhost lock log login long lora loss low mac machine mail main make
    man map mark mask master math matrix max me mean media mem memory merge meta mig min mini
    minimal mirror misc missing mistral mit mnt mode model module monitor most mount move mpi
    name native nccl net network new next nice nil ninja nn no nobody node none norm note null
    numpy nvidia object off ok old on one online op opc open ops opt option or orange order
    origin other out output owner pack package page pair panic parent part pascal pass path pbs
    peer phase ping pip pipe play pod point pool port post power print proc process prod profile
    program project proxy public pull push py python python3 pytorch queue quick rank raw ray
    rccl read real red region release remote render research reset result return rich ring rocm
    root row run runner runtime safe sagemaker sample save scale scan science script search sec
    segfault self send server service session set setup sge shell shift short show side sky slot
    slow slurm small smi snap solver source space spark spot src srv ssh stack staff stage start
    state step stop storage store str stream string student sub sudo sum support sync sys system
    tab table tag tail target task team tech temp tensor term test tester text the thread time
    tmp token tom tool top torch trace train trainer tree triton true tune turing two type
    ubuntu ubuntu1 uncle unit unix unknown up update upload user users usr util vagrant val
    value var vast venv version video view virtual visual vllm vm volta volume vscode wait walk
    warning watch web well wheel will win window windows word work worker workspace world write
    www x xen xpu yes you zero zone
    """.split()  # noqa: SIM905 - a list of hundreds of quoted words is no easier to read
)
